package headroom_test.memory.large_values

import data.headroom.rules.memory.large_values as rule
import data.headroom.testing

bad := {
	"1 MB": {"input": testing.example({"etcd_workload": {"value_size": "1MB"}}), "texts": {"etcd-1: values of 1.0 MiB (etcd_workload.value_size) are over 100.0 KiB"}},
	"bytes": {"input": testing.example({"etcd_workload": {"value_size": 102401}}), "texts": {"etcd-1: values of 100.0 KiB (etcd_workload.value_size) are over 100.0 KiB"}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.deny) with input as case.input
	found == case.texts
}

good := {
	"the example": testing.example({}),
	"just 100 KB": testing.example({"etcd_workload": {"value_size": "100KB"}}),
	"no workload": testing.plain({}),
}

test_good[note] if {
	some note, case in good
	found := rule.deny with input as case
	count(found) == 0
}

# A group whose hosts are in INI files, which cannot be seen here, is judged by its group_vars.
test_member_to_be if {
	files := [{"path": "inventory/group_vars/etcd.yml", "contents": {"etcd_workload": {"value_size": "1MB"}}}]
	found := testing.texts(rule.deny) with input as files
	found == {`a member-to-be of group "etcd": values of 1.0 MiB (etcd_workload.value_size) are over 100.0 KiB`}
}
