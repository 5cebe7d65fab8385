package headroom_test.settings.detect

import data.headroom.clusters
import data.headroom.settings.detect
import data.headroom.settings.dispatch

_group(hosts) := {"hosts": {host: null | some host in hosts}}

_kubespray_groups := {
	"etcd": _group({"n1"}),
	"k8s_cluster": {"children": {"kube_control_plane": _group({"n1"}), "kube_node": _group({"n1"})}},
}

# The groups of kubespray's sample since 2.27.
_kubespray_sample := {"kube_control_plane": _group({"n1"}), "etcd": {"children": {"kube_control_plane": null}}, "kube_node": _group({"n2"})}

# The groups of TimeBye/kubeadm-ha, which has kube_proxy_mode, too.
_kubeadm_ha_groups := {"etcd": _group({"n1"}), "kube-master": _group({"n1"}), "kube-worker": _group({"n2"})}

_autobase_groups := {"etcd_cluster": _group({"n1"}), "master": _group({"n1"}), "replica": _group({"n2"})}

cases := [
	["nothing said", {"etcd": _group({"n1"})}, {}, "unrecognised", "etcd"],
	["another group", {"stores": _group({"n1"})}, {"etcd_group": "stores"}, "unrecognised", "stores"],
	["a group of users", {"etcd_cluster": _group({"n1"})}, {"etcd_group": "etcd", "etcd_user": "etcd"}, "unrecognised", "etcd_cluster"],
	["a group of users of another name", {"etcd": _group({"n1"})}, {"etcd_group": "kv"}, "unrecognised", "etcd"],
	["a missing group", {"stores": _group({"n1"})}, {"etcd_group": "kv"}, "unrecognised", "kv"],
	["a missing group of Headroom's", {"etcd": _group({"n1"})}, {"etcd_group": "kv", "etcd_storage_data_device": "/dev/x"}, "headroom", "kv"],
	["kubespray", _kubespray_groups, {"kube_network_plugin": "calico"}, "kubespray", "etcd"],
	["kubespray's sample", _kubespray_sample, {"etcd_deployment_type": "host", "etcd_extra_vars": {"ETCD_MAX_WALS": 5}}, "kubespray", "etcd"],
	["kubespray's sample without its variables", _kubespray_sample, {"kube_proxy_mode": "ipvs", "etcd_quota_backend_bytes": 5}, "unrecognised", "etcd"],
	["kubeadm-ha", _kubeadm_ha_groups, {"kube_proxy_mode": "ipvs", "kube_network_plugin": "calico"}, "unrecognised", "etcd"],
	["kubespray's groups only", _kubespray_groups, {}, "unrecognised", "etcd"],
	["kubespray's variables only", {"etcd": _group({"n1"})}, {"kube_network_plugin": "calico"}, "unrecognised", "etcd"],
	["Headroom beside Kubernetes", _kubespray_groups, {"kube_network_plugin": "calico", "etcd_storage_data_device": "/dev/x"}, "headroom", "etcd"],
	["a workload for kubespray", _kubespray_groups, {"etcd_deployment_type": "host", "etcd_workload": {}}, "kubespray", "etcd"],
	["autobase", _autobase_groups, {"patroni_cluster_name": "x"}, "autobase", "etcd_cluster"],
	["pigsty", {"etcd": _group({"n1"})}, {"etcd_seq": 1, "etcd_cluster": "etcd"}, "pigsty", "etcd"],
	["autobase's groups only", _autobase_groups, {}, "unrecognised", "etcd_cluster"],
	["a group of a similar name", {"etcd-nodes": _group({"n1"})}, {}, "unrecognised", "etcd-nodes"],
	["two groups of similar names", {"etcd1": _group({"n1"}), "etcd2": _group({"n2"})}, {}, "unrecognised", "etcd"],
	["clients", {"etcd_clients": _group({"n1"})}, {}, "unrecognised", "etcd"],
	["githubixx", {"k8s_etcd": _group({"n1"})}, {"etcd_settings_user": {"max-wals": 5}}, "githubixx.etcd", "k8s_etcd"],
	["githubixx, named group", {"stores": _group({"n1"})}, {"etcd_settings": {}, "etcd_ansible_group": "stores"}, "githubixx.etcd", "stores"],
	["githubixx, plain group", {"etcd": _group({"n1"})}, {"etcd_settings": {}}, "githubixx.etcd", "etcd"],
	["an environment of etcdctl", {"etcd": _group({"n1"})}, {"etcd_ctl_env": "{{ a }}"}, "unrecognised", "etcd"],
	["an environment", {"etcd": _group({"n1"})}, {"etcd_env": {"ETCD_SNAPSHOT_COUNT": 5}}, "environment", "etcd"],
	["an environment with templates", {"etcd": _group({"n1"})}, {"etcd_environment": {"ETCD_NAME": "{{ x }}"}}, "environment", "etcd"],
	["a client's environment", {"etcd": _group({"n1"})}, {"app_env": {"ETCD_ENDPOINTS": "x"}}, "unrecognised", "etcd"],
	["another role", {"etcd": _group({"n1"})}, {"etcd_conf_dir": "/etc/etcd"}, "unrecognised", "etcd"],
	["only what every role has", {"etcd": _group({"n1"})}, {"etcd_version": "3.6.16"}, "unrecognised", "etcd"],
	["a budget", {"etcd": _group({"n1"})}, {"etcd_memory_budget": "2GB"}, "headroom", "etcd"],
	["TLS of Headroom", {"etcd": _group({"n1"})}, {"etcd_tls_enabled": true}, "headroom", "etcd"],
	["TLS of another role", {"etcd": _group({"n1"})}, {"etcd_tls_enabled": true, "etcd_base_dir": "/etcd"}, "unrecognised", "etcd"],
	["a tuned priority", {"etcd": _group({"n1"})}, {"etcd_io_scheduling_class": "realtime"}, "headroom", "etcd"],
	["the user's own beside Headroom's", {"etcd": _group({"n1"})}, {"etcd_bucket": "x", "etcd_workload": {}}, "headroom", "etcd"],
]

test_kind[note] if {
	some [note, groups, variables, kind, group] in cases
	files := [
		{"path": "inventory/hosts.yml", "contents": {"all": {"children": groups}}},
		{"path": "inventory/group_vars/all.yml", "contents": variables},
	]
	detect.format.inventory == kind with input as files
	detect.group.inventory == group with input as files
}

# site.yml lints what it is about to deploy.
test_deployed_by_headroom if {
	listed := {"_meta": {"hostvars": {"n1": {"etcd_version": "3.6.16"}}}, "etcd": {"hosts": ["n1"]}}
	detect.format == {"i": "unrecognised"} with input as [{"path": "i", "contents": listed}]
	deployed := json.patch(listed, [{"op": "add", "path": "/_meta/deployed_by", "value": "etcdops.headroom"}])
	detect.format == {"i": "headroom"} with input as [{"path": "i", "contents": deployed}]
}

# Without visible hosts, as with kubespray's INI files, group_vars decide.
test_unseen_hosts if {
	files := [
		{"path": "inventory/group_vars/etcd.yml", "contents": {"etcd_deployment_type": "host", "etcd_snapshot_count": 5000}},
		{"path": "inventory/group_vars/all.yml", "contents": {"etcd_data_dir": "{{ x }}"}},
	]
	detect.format.inventory == "unrecognised" with input as files
	{profile.etcd.settings | some profile in clusters.profiles} == {{"snapshot_count": 5000}} with input as files
}

# Ansible refuses a list of hosts, but the group is that of the members, unless another one has hosts.
test_refused_hosts[groups] if {
	some groups, group in {
		`{"etcd-nodes": {"hosts": ["n1"], "vars": {"etcd_snapshot_count": 5000}}}`: "etcd-nodes",
		`{"etcd-nodes": {"hosts": ["n1"]}, "etcd_cluster": {"hosts": "n2"}}`: "etcd_cluster",
		`{"web": {"hosts": ["n1"]}}`: "etcd",
	}
	files := [{"path": "inventory/hosts.yml", "contents": json.unmarshal(groups)}]
	detect.group.inventory == group with input as files
}

test_settings_of_a_refused_group if {
	files := [{"path": "inventory/hosts.yml", "contents": {"etcd-nodes": {"hosts": ["n1"], "vars": {"etcd_snapshot_count": 5000}}}}]
	{profile.etcd.settings | some profile in clusters.profiles} == {{"snapshot_count": 5000}} with input as files
}

# Two variables that no other role has tell as well.
test_unseen_hosts_of_kubespray if {
	files := [{"path": "inventory/group_vars/etcd.yml", "contents": {"etcd_memory_limit": "2G", "etcd_peer_client_auth": false}}]
	detect.format.inventory == "kubespray" with input as files
}

_strange := [
	{"path": "inventory/hosts.yml", "contents": {"etcd": _group({"n1"})}},
	{"path": "inventory/group_vars/all.yml", "contents": {"etcd_conf_dir": "/etc/etcd", "etcd_snapshot_count": 5000}},
]

_profile(variables) := {"inventory": "inventory", "variables": variables, "unknown": {}}

# In another role's inventory only what is set is known.
test_unrecognised if {
	found := dispatch.member(_profile({"etcd_snapshot_count": 5000})) with input as _strange
	found.settings == {"snapshot_count": 5000}
	found.version == null
	found.unknown == {"extra_config"}
	stating := dispatch.member(_profile({"etcd_version": "3.6.16"})) with input as _strange
	stating.version == "3.6.16"
	with_letter := dispatch.member(_profile({"etcd_version": "v3.6.16"})) with input as _strange
	with_letter.version == "3.6.16"
	in_image := dispatch.member(_profile({"etcd_image": "quay.io/coreos/etcd:v3.6.16-arm64"})) with input as _strange
	in_image.version == "3.6.16"
	in_capitals := dispatch.member(_profile({"ETCD_VERSION": "v3.6.16"})) with input as _strange
	in_capitals.version == "3.6.16"
	in_a_map := dispatch.member(_profile({"kubernetes": {"components": {"etcd": {"version": "v3.6.16"}, "cri": "x"}}})) with input as _strange
	in_a_map.version == "3.6.16"
	in_etcd := dispatch.member(_profile({"etcd": {"version": "3.6.16"}})) with input as _strange
	in_etcd.version == "3.6.16"
	host_profile := dispatch.host(_profile({"etcd_data_dir": "/data"})) with input as _strange
	host_profile.facts == {"data_dir": "/data"}
	reasons := dispatch.reasons(_profile({})) with input as _strange
	reasons == {"the rest of the settings": "etcd_conf_dir is not a variable of a known role, so they may come from elsewhere"}
}

# A release in a map reaches the rules.
test_release_in_a_map if {
	files := [
		{"path": "inventory/hosts.yml", "contents": {"etcd": _group({"n1"})}},
		{"path": "inventory/group_vars/all.yml", "contents": {"kubernetes": {"components": {"etcd": {"version": "v3.5.9"}}}}},
	]
	{profile.etcd.version | some profile in clusters.profiles} == {"3.5.9"} with input as files
}

# A member from another role's inventory, as rules see it.
test_profile if {
	files := [
		{"path": "inventory/hosts.yml", "contents": {"k8s_etcd": _group({"n1"})}},
		{"path": "inventory/group_vars/all.yml", "contents": {"etcd_version": "3.5.9", "etcd_settings_user": {"max-wals": 9}}},
	]
	{profile.etcd.settings.max_wals | some profile in clusters.profiles} == {9} with input as files
	{host_profile.facts | some host_profile in clusters.host_profiles} == {{}} with input as files
}
