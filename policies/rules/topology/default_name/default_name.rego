# METADATA
# title: A member has a name of its own
# description: |
#   "default" is what etcd calls a member that nobody named. Two of them cannot be in one cluster, and a data dir that was
#   made by one is taken for that of another.
# custom:
#   id: topology/default_name
#   severity: deny
#   fix: Leave etcd_name out (it is the name of the host), or give each member a name of its own
#   source: https://etcd.io/docs/v3.6/op-guide/configuration/#member
package headroom.rules.topology.default_name

import data.headroom.clusters
import data.headroom.result

deny contains finding if some finding in result.findings("topology/default_name", problems)

problems contains problem if {
	some [inventory, host], "default" in clusters.names
	problem := {
		"inventory": inventory,
		"hosts": {host},
		"about": "etcd_name",
		"text": "the member is called \"default\" (etcd_name), as every member without a name is",
	}
}
