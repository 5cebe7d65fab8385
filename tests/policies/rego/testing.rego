# METADATA
# title: Inventories for tests
# description: Input as conftest hands it over, for the tests beside the rules.
package headroom.testing

# The clock of tests in which a date matters.
noon := time.parse_rfc3339_ns("2026-11-21T12:00:00Z")

# A cluster of this many members with these variables in group_vars/etcd.yml, in an inventory folder.
cluster(members, variables) := [
	{"path": "inventory/group_vars/etcd.yml", "contents": variables},
	{"path": "inventory/hosts.yml", "contents": {"etcd": {"hosts": {sprintf("etcd-%d", [number]): null | some number in numbers.range(1, members)}}}},
]

# A cluster whose variables are those of a healthy example, changed by `changes`.
example(changes) := cluster(1, object.union(healthy, changes))

# The same with this many members.
example_of(members, changes) := cluster(members, object.union(healthy, changes))

healthy := {
	"etcd_version": "3.7.3",
	"etcd_workload": {"value_size": "10KB", "keys": 1000},
	"etcd_memory_budget": "2GB",
	"etcd_storage_data_device": "/dev/disk/by-id/virtio-etcd-data",
	"etcd_storage_wal_device": "/dev/disk/by-id/virtio-etcd-wal",
	"etcd_maintenance_defrag_enabled": true,
	"etcd_maintenance_backup_dir": "/var/backups",
}

# The messages without the rule's id and its fix, which are always the same.
texts(findings) := {text |
	some finding in findings
	text := trim_suffix(trim_prefix(finding.msg, sprintf("%s: ", [finding.code])), sprintf(". %s", [finding.fix.text]))
}

# The same with every size replaced by the word SIZE.
any_size(findings) := {regex.replace(text, `[0-9][0-9.,]* (?:[KMGTP]?i?B|bytes)`, "SIZE") | some text in texts(findings)}
