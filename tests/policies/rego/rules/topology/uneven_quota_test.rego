package headroom_test.topology.uneven_quota

import data.headroom.rules.topology.uneven_quota as rule
import data.headroom.testing

bad := {
	"one differs": {"input": testing.mixed({"etcd_quota_backend_bytes": "2GB"}, {"etcd-1": {"etcd_quota_backend_bytes": "4GB"}}), "texts": {`etcd-1, etcd-2, etcd-3: cluster "main" mixes quotas: 2.0 GiB (etcd-2, etcd-3) and 4.0 GiB (etcd-1), and the smallest ends the writes of all`}},
	"the default": {"input": testing.mixed({"etcd_workload": null}, {"etcd-1": {"etcd_quota_backend_bytes": "4GB"}}), "texts": {`etcd-1, etcd-2, etcd-3: cluster "main" mixes quotas: 2.0 GiB (etcd-2, etcd-3) and 4.0 GiB (etcd-1), and the smallest ends the writes of all`}},
}

test_bad[note] if {
	some note, case in bad
	found := testing.texts(rule.warn) with input as case.input
	found == case.texts
}

good := {
	"all alike": testing.mixed({"etcd_quota_backend_bytes": "2GB"}, {}),
	"in other words": testing.mixed({"etcd_quota_backend_bytes": "2GB"}, {"etcd-1": {"etcd_quota_backend_bytes": 2147483648}}),
	"the plan chooses": testing.mixed({}, {"etcd-1": {"etcd_quota_backend_bytes": "4GB"}}),
	"none at all": testing.mixed({"etcd_workload": null, "etcd_quota_backend_bytes": "4GB"}, {"etcd-1": {"etcd_quota_backend_bytes": -1}}),
	"unknown": testing.mixed({"etcd_workload": null}, {"etcd-1": {"etcd_quota_backend_bytes": "{{ x }}"}}),
}

test_good[note] if {
	some note, case in good
	found := rule.warn with input as case
	count(found) == 0
}
