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

_examples := {name: inventory.examples(name) | some name in inventory.names}

_variables := {name: object.union(_unseen(name).known, found.known) | some name, found in _examples}

_unknown := {name: object.union(_unseen(name).unknown, found.unknown) | some name, found in _examples}

# Where no host can be seen, what a member-to-be would get.
_unseen(name) := folder.future(name, "etcd") if {
	count(inventory.members[name].all) == 0
} else := {"known": {}, "unknown": {}}

_names := {name: names |
	some name, variables in _variables
	names := object.keys(variables) | object.keys(_unknown[name])
}

_groups := {name: {group | some group, hosts in found; count(hosts) > 0} | some name, found in inventory.members}

# Inventory → its vocabulary.
kind := {name: _kind(name) | some name in inventory.names}

_kind(name) := "headroom" if {
	_headroom(_names[name])
} else := "kubespray" if {
	_kubespray(_groups[name], _names[name])
} else := "autobase" if {
	_autobase(_groups[name], _names[name])
} else := "githubixx.etcd" if {
	_githubixx(_names[name])
} else := "environment" if {
	count(maps[name]) > 0
} else := "unrecognised" if {
	count(strange[name]) > 0
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

_githubixx(names) if count(names & {"etcd_settings", "etcd_settings_user"}) > 0

# Inventory → the variables that hold etcd's environment: maps with a variable that only the server has a use for. One of which nothing is
# known, as there is a template in it, tells by its name.
maps := {name: all_maps |
	some name, variables in _variables
	found := {variable |
		some variable, value in variables
		is_object(value)
		some spelt, _ in value
		server_only(spelt)
	}
	opaque := {variable | some variable, _ in object.get(_unknown, name, {}); regex.match(`^etcd_(.*_)?env(_|ironment|$)`, variable)}
	all_maps := found | opaque
}

# Inventory → its variables etcd_… that no role of Headroom has. Where a workload or a budget is stated for Headroom, others are the
# user's own.
strange := {name: found |
	some name, names in _names
	count(names & {"etcd_workload", "etcd_memory_budget"}) == 0
	found := {variable |
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

# METADATA
# description: |
#   Whether a variable of the environment tells that it is a server's. Clients of etcd have ETCD_ENDPOINTS or ETCD_CERT_FILE too.
server_only(spelt) if regex.match(`^ETCD_(LISTEN|ADVERTISE|INITIAL|SNAPSHOT|AUTO_COMPACTION|QUOTA|HEARTBEAT|ELECTION|MAX_REQUEST)_`, spelt)

# Inventory → the group of its members: as the vocabulary has it, else etcd_group.
group := {name: _group(kind[name], object.get(_variables, name, {}), _groups[name]) | some name in inventory.names}

_group("kubespray", _, _) := "etcd"

_group("autobase", _, _) := "etcd_cluster"

_group("githubixx.etcd", variables, groups) := variables.etcd_ansible_group if {
	is_string(variables.etcd_ansible_group)
} else := "k8s_etcd" if {
	"k8s_etcd" in groups
} else := _stated_group(variables)

_group(vocabulary, variables, _) := _stated_group(variables) if vocabulary in {"headroom", "environment", "unrecognised"}

_stated_group(variables) := variables.etcd_group if {
	is_string(variables.etcd_group)
} else := "etcd"

# Inventory → the variables that tell profiles of members apart.
relevant := {name: _relevant(name, vocabulary_of) | some name, vocabulary_of in kind}

_relevant(name, vocabulary_of) := foreign.relevant[vocabulary_of] | maps[name] if {
	foreign.relevant[vocabulary_of]
} else := vocabulary.relevant
