# METADATA
# title: Formats of inventories
# description: |
#   Detects for which role an inventory was written. A role that is known needs its own groups and at least one of its own variables, and
#   Headroom a variable that no other role has, or site.yml, which says so. Everything else is "unrecognised": nobody's defaults apply, and
#   only what is set is judged.
package headroom.settings.detect

import data.headroom.files
import data.headroom.inventory
import data.headroom.inventory.definitions
import data.headroom.inventory.folder
import data.headroom.inventory.paths
import data.headroom.releases.spelling
import data.headroom.settings.headroom_roles
import data.headroom.settings.other_roles

# The variables of the hosts; without visible hosts, those of a new member.
_examples := object.union(
	{name: inventory.examples(name) | some name, groups in inventory.members; count(groups.all) > 0},
	{name: folder.new_member(name, _alike(_with_refused(name, object.get(_vars_groups, [name], set())))) |
		some name, groups in inventory.members
		count(groups.all) == 0
	},
)

# Inventory → the groups with variables.
_vars_groups := {root: groups |
	some root in {root | some [root, "group_vars", _] in paths.vars_names}
	groups := {group | some [other, "group_vars", group] in paths.vars_names; other == root}
}

# The group of members among the groups of an inventory: etcd, or the only one with a name such as etcd_cluster or etcd-nodes.
_alike(groups) := min(alike) if {
	not "etcd" in groups
	alike := {group | some group in groups; _is_alike(group)}
	count(alike) == 1
} else := "etcd"

_is_alike(group) if regex.match(sprintf("^(?i)%s$", [_member_group]), group)

# headroom-lint has the same pattern.
_member_group := `etcds?([_-]?(cluster|node|server|member|host|group|master|all)s?)?([_-]?[0-9]+)?`

# Inventory → the groups with a list of hosts. Ansible refuses it, so such a group has no hosts. A list of endpoints belongs to a client, and
# a file with other content is not an inventory.
_refused_groups := {name: groups |
	some name, found in inventory.refused
	groups := {definition.group |
		some definition in definitions.groups
		definition.root == name
		found[definition.path]
		is_array(definition.body.hosts)
		every host in definition.body.hosts { not contains(sprintf("%v", [host]), ":") }
		every body in files.contents[definition.path] { paths.is_group(body) }
		_names_members(definition)
	}
}

_names_members(definition) if _is_alike(definition.group)

_names_members(definition) if {
	some variable, _ in definitions.section_of(definition.body, "vars")
	startswith(variable, "etcd_")
}

# Where no other group has a name such as etcd_cluster.
_with_refused(name, groups) := groups if {
	some group in groups
	_is_alike(group)
} else := groups | object.get(_refused_groups, [name], set())

# Whether Ansible refuses the hosts of a group of members, so that it deploys etcd to none or only to some of them.
refuses_members(name) if count(_refused_groups[name]) > 0

_names := {name: (object.keys(found.known) | object.keys(found.unknown)) | some name, found in _examples}

_groups := {name: {group | some group, hosts in found; count(hosts) > 0} | some name, found in inventory.members}

# Inventory → format.
format := object.union(
	{name: _format(_groups[name], names, maps[name]) | some name, names in _names},
	{name: "headroom" | some name, document in files.listed; document._meta.deployed_by == "etcdops.headroom"},
)

_format(groups, names, maps_of) := "headroom" if {
	_is_headroom(names)
} else := "kubespray" if {
	_is_kubespray(groups, names)
} else := "autobase" if {
	_is_autobase(groups, names)
} else := "pigsty" if {
	"etcd_seq" in names
} else := "githubixx.etcd" if {
	count(names & {"etcd_settings", "etcd_settings_user"}) > 0
} else := "environment" if {
	count(maps_of) > 0
} else := "headroom" if {
	some name in names
	regex.match(_of_headroom_alone, name)
} else := "headroom" if {
	"etcd_tls_enabled" in names

	# Many roles have a variable of this name.
	count(_unrecognised(names)) == 0
} else := "unrecognised"

# Inventories that Headroom's role certainly deploys: site.yml says so, or a variable that no other role has.
of_headroom := {name | some name, names in _names; _is_headroom(names)} | {name |
	some name, document in files.listed
	document._meta.deployed_by == "etcdops.headroom"
}

# Variables that only Headroom's roles have.
_is_headroom(names) if {
	some name in names
	regex.match(`^etcd_(storage_|maintenance_|extra_config$)`, name)
}

# A workload or a budget may also be in another role's inventory, so that the linter can estimate its memory.
_of_headroom_alone := concat("", [
	`^etcd_(workload|memory_(budget|max|high)|gogc|gomemlimit`,
	`|(archive|cpu_weight|io_|nice|oom_score|priority_|report_|restore_|rotate_|start_timeout|user_group).*)$`,
])

# The groups of kubespray's inventories, as its releases spell them.
_is_kubespray(groups, names) if {
	"etcd" in groups
	count(groups & {"k8s_cluster", "k8s-cluster"}) > 0
	count(groups & {"kube_control_plane", "kube-control-plane", "kube_node", "kube-node", "kube-master"}) > 0
	count(names & {"etcd_deployment_type", "etcd_kubeadm_enabled", "kube_network_plugin", "kube_service_addresses", "kube_proxy_mode"}) > 0
}

# Since 2.27 the playbooks make k8s_cluster, and stop without kube_control_plane. Other installers have the groups etcd and kube-master, and the
# variable kube_proxy_mode, such as TimeBye/kubeadm-ha.
_is_kubespray(groups, names) if {
	"etcd" in groups
	"kube_control_plane" in groups
	count(names & {"etcd_deployment_type", "etcd_kubeadm_enabled", "kube_network_plugin", "kube_service_addresses"}) > 0
}

# A single file of group_vars shows no groups. Two variables that no other role has identify it.
_is_kubespray(groups, names) if {
	count(groups) == 0
	count(names & {"etcd_deployment_type", "etcd_kubeadm_enabled", "etcd_memory_limit", "etcd_peer_client_auth", "etcd_secure_client"}) > 1
}

_is_autobase(groups, names) if {
	"etcd_cluster" in groups
	count(groups & {"master", "replica", "postgres_cluster"}) > 0
	count(names & {"patroni_cluster_name", "dcs_type", "dcs_exists", "postgresql_version", "with_haproxy_load_balancing"}) > 0
}

# Inventory → the variables that contain etcd's environment: maps with a variable that only a server uses. If a template hides the content,
# the name decides.
maps := {name: (maps_of | opaque) |
	some name, found in _examples
	maps_of := {variable |
		some variable, value in found.known
		is_object(value)
		some spelt, _ in value
		spelling.is_server_variable(spelt)
	}
	opaque := {variable |
		some variable, _ in found.unknown
		regex.match(`^etcd_(.*_)?env(_|ironment|$)`, variable)
		not regex.match(`^etcd_?ctl_`, variable)
	}
}

# Inventory → its etcd_ variables that no role of Headroom has.
unrecognised := {name: _unrecognised(names) | some name, names in _names}

_unrecognised(names) := {variable |
	some variable in names
	startswith(variable, "etcd_")
	not variable in (headroom_roles.member_variables | headroom_roles.host_variables)
	not variable in _other_headroom_variables
	not regex.match(`^etcd_(auth|client_certificate|downgrade|join|lint|maintenance|membership|priority|release|replace|report|restore|rotate|scale|storage|tls|upgrade)_`, variable)
}

# Variables of Headroom's roles that no rule reads.
_other_headroom_variables := {
	"etcd_address",
	"etcd_archive",
	"etcd_archive_sha256",
	"etcd_archive_trust_sums",
	"etcd_client_port",
	"etcd_cluster_name",
	"etcd_config_file",
	"etcd_corruption_checks",
	"etcd_cpu_weight",
	"etcd_group",
	"etcd_install_dir",
	"etcd_io_scheduling_priority",
	"etcd_io_weight",
	"etcd_journal_lines",
	"etcd_listen_addresses",
	"etcd_name",
	"etcd_oom_score_adjust",
	"etcd_peer_address",
	"etcd_peer_port",
	"etcd_retire",
	"etcd_start_timeout",
	"etcd_user",
	"etcd_user_group",
}

# Inventory → the group of its members.
group := {name: _group(format[name], found.known, _with_refused(name, _groups[name] | object.get(_vars_groups, [name], set()))) | some name, found in _examples}

_group(format_of, variables, groups) := "etcd" if {
	format_of == "kubespray"
} else := "etcd_cluster" if {
	format_of == "autobase"
} else := variables.etcd_ansible_group if {
	format_of == "githubixx.etcd"
	is_string(variables.etcd_ansible_group)
} else := "k8s_etcd" if {
	format_of == "githubixx.etcd"
	"k8s_etcd" in groups
} else := variables.etcd_group if {
	is_string(variables.etcd_group)
	not _is_unix_group(format_of, variables.etcd_group, groups)
} else := _alike(groups)

# Other roles call etcd's group of users etcd_group.
_is_unix_group(format_of, name, groups) if {
	format_of != "headroom"
	not name in groups
	_alike(groups) in groups
}

# Whether an inventory deploys etcd, according to: the group of the members, a server's variable, or a section of an INI file.
is_deployed(name) if {
	some definition in definitions.groups
	definition.root == name
	definition.group == group[name]
	paths.is_group(definition.body)
	not _is_of_another_role(name)
}

is_deployed(name) if files.listed[name][group[name]]

is_deployed(name) if {
	has_variables(name)
	not has_no_inventory_file(name)
	not _is_of_another_role(name)
}

is_deployed(name) if {
	some path, _ in inventory.opaque[name]
	some section, _ in files.contents[path]
	split(section, ":")[0] == group[name]
}

is_deployed(name) if {
	some path in paths.concatenated
	inventory.opaque[name][path]
	some entry in files.entries
	entry.path == path
	walk(entry.contents, [keys, _])
	_deploys(name, keys[count(keys) - 1])
}

_deploys(_, key) if _is_alike(key)

_deploys(name, key) if key in (member_variables[name] | headroom_roles.host_variables)

# The hosts of such an inventory may be members.
is_deployed(name) if "a dynamic inventory" in inventory.opaque[name]

# headroom-lint sees all hosts. An empty group of another role may mean that its etcd is optional, or that the hosts come from elsewhere.
_is_of_another_role(name) if {
	files.reader.files
	format[name] != "headroom"
}

# Variables of another role alone, such as one file that a pre-commit hook lints. They do not say that their hosts are missing.
_is_of_another_role(name) if {
	format[name] != "headroom"
	not inventory.opaque[name]
	every file in paths.inventory_files { file.root != name }
}

# Whether an inventory sets a variable of a server, or names the group of the members.
has_variables(name) if count(maps[name]) > 0

has_variables(name) if count(_names[name] & (member_variables[name] | headroom_roles.host_variables)) > 0

has_variables(name) if "etcd_group" in _names[name]

# A file of group_vars that is linted by itself. Only headroom-lint knows: conftest passes over INI inventories beside it.
has_no_inventory_file(name) if {
	files.reader.files
	every file in paths.inventory_files {
		file.root != name
	}
}

# Inventory → the variables that rules about members read.
member_variables := object.union_n([
	{name: headroom_roles.member_variables | some name, _ in format},
	{name: (variables | maps[name]) | some name, format_of in format; variables := other_roles.member_variables[format_of]},
	{name: ((headroom_roles.member_variables | other_roles.version_variables) | other_roles.with_version(_examples[name].known)) |
		some name, "unrecognised" in format
	},
])
