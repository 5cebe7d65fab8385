# METADATA
# title: Whose variables an inventory has
# description: |
#   An inventory is in another role's vocabulary only where it has what that role alone asks for: its groups, and at least one variable
#   of its own. What has one of the variables that only Headroom's roles have is Headroom's. The rest is Headroom's too, as long as none of
#   its variables etcd_… is one that no role of Headroom has: with such a one it is "unrecognised", and only what it states is judged.
package headroom.vocabulary.recognised

import data.headroom.inventory
import data.headroom.inventory.folder
import data.headroom.vocabulary
import data.headroom.vocabulary.foreign

# What the hosts have; where none can be seen, what a member-to-be would get.
_examples := object.union(
	{name: inventory.examples(name) | some name, groups in inventory.members; count(groups.all) > 0},
	{name: folder.future(name, "etcd") | some name, groups in inventory.members; count(groups.all) == 0},
)

_names := {name: (object.keys(found.known) | object.keys(found.unknown)) | some name, found in _examples}

_groups := {name: {group | some group, hosts in found; count(hosts) > 0} | some name, found in inventory.members}

# Inventory → its vocabulary.
kind := {name: _kind(_groups[name], names, maps[name], strange[name]) | some name, names in _names}

_kind(groups, names, maps_of, strange_of) := "headroom" if {
	_headroom(names)
} else := "kubespray" if {
	_kubespray(groups, names)
} else := "autobase" if {
	_autobase(groups, names)
} else := "githubixx.etcd" if {
	count(names & {"etcd_settings", "etcd_settings_user"}) > 0
} else := "environment" if {
	count(maps_of) > 0
} else := "unrecognised" if {
	count(strange_of) > 0
} else := "headroom"

# The roles' variables for storage and upkeep, and the map for etcd's own keys.
_headroom(names) if {
	some name in names
	regex.match(`^etcd_(storage_|maintenance_|extra_config$)`, name)
}

# Groups as every kubespray inventory has them, in the spellings of its releases.
_kubespray(groups, names) if {
	"etcd" in groups
	count(groups & {"k8s_cluster", "k8s-cluster"}) > 0
	count(groups & {"kube_control_plane", "kube-control-plane", "kube_node", "kube-node", "kube-master"}) > 0
	count(names & {"etcd_deployment_type", "etcd_kubeadm_enabled", "kube_network_plugin", "kube_service_addresses", "kube_proxy_mode"}) > 0
}

_autobase(groups, names) if {
	"etcd_cluster" in groups
	count(groups & {"master", "replica", "postgres_cluster"}) > 0
	count(names & {"patroni_cluster_name", "dcs_type", "dcs_exists", "postgresql_version", "with_haproxy_load_balancing"}) > 0
}

# Inventory → the variables that hold etcd's environment: maps with a variable that only the server has a use for. One of which nothing is
# known, as there is a template in it, tells by its name.
maps := {name: (maps_of | opaque) |
	some name, found in _examples
	maps_of := {variable |
		some variable, value in found.known
		is_object(value)
		some spelt, _ in value
		server_only(spelt)
	}
	opaque := {variable | some variable, _ in found.unknown; regex.match(`^etcd_(.*_)?env(_|ironment|$)`, variable)}
}

# Inventory → its variables etcd_… that no role of Headroom has. Where a workload or a budget is stated for Headroom, others are the
# user's own.
strange := {name: found |
	some name, names in _names
	found := {variable |
		count(names & {"etcd_workload", "etcd_memory_budget"}) == 0
		some variable in names
		startswith(variable, "etcd_")
		not variable in (vocabulary.relevant | vocabulary.relevant_place)
		not variable in _other_variables_of_headroom
		not regex.match(`^etcd_(lint|tls|report|storage|maintenance)_`, variable)
	}
}

# What the roles have beside the variables that rules look at.
_other_variables_of_headroom := {
	"etcd_address",
	"etcd_archive",
	"etcd_archive_sha256",
	"etcd_client_port",
	"etcd_cluster_name",
	"etcd_config_file",
	"etcd_cpu_weight",
	"etcd_group",
	"etcd_install_dir",
	"etcd_io_scheduling_priority",
	"etcd_io_weight",
	"etcd_journal_lines",
	"etcd_name",
	"etcd_oom_score_adjust",
	"etcd_peer_port",
	"etcd_release_url",
	"etcd_start_timeout",
	"etcd_user",
	"etcd_user_group",
}

# Whether a variable of the environment tells that it is a server's. Clients of etcd have ETCD_ENDPOINTS or ETCD_CERT_FILE too.
server_only(spelt) if regex.match(`^ETCD_(LISTEN|ADVERTISE|INITIAL|SNAPSHOT|AUTO_COMPACTION|QUOTA|HEARTBEAT|ELECTION|MAX_REQUEST)_`, spelt)

# Inventory → the group of its members: as the vocabulary has it, else etcd_group.
group := {name: _group(kind[name], found.known, _groups[name]) | some name, found in _examples}

_group(vocabulary_of, variables, groups) := "etcd" if {
	vocabulary_of == "kubespray"
} else := "etcd_cluster" if {
	vocabulary_of == "autobase"
} else := variables.etcd_ansible_group if {
	vocabulary_of == "githubixx.etcd"
	is_string(variables.etcd_ansible_group)
} else := "k8s_etcd" if {
	vocabulary_of == "githubixx.etcd"
	"k8s_etcd" in groups
} else := variables.etcd_group if {
	is_string(variables.etcd_group)
} else := "etcd"

# Inventory → the variables that tell profiles of members apart.
relevant := object.union(
	{name: vocabulary.relevant | some name, _ in kind},
	{name: (counting | maps[name]) | some name, vocabulary_of in kind; counting := foreign.relevant[vocabulary_of]},
)
