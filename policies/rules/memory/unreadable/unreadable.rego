# METADATA
# title: The workload and the settings can be read
# description: |
#   A size that is no size, an unknown key of the workload or a version that is not known stops the deployment later, and
#   no other rule about memory can speak before it is mended.
# custom:
#   id: memory/unreadable
#   severity: deny
#   fix: Write it as the documentation has it; sizes are numbers of bytes or such as 100KB, 2GB
#   source: the documentation of etcd_memory_estimate
package headroom.rules.memory.unreadable

import data.headroom.clusters
import data.headroom.memory
import data.headroom.result

deny contains finding if some finding in result.findings(rego.metadata.chain(), _problems)

_problems := {{"inventory": profile.inventory, "hosts": profile.hosts, "about": "etcd_workload", "text": text} |
	some profile, texts in clusters.unreadable
	some text in texts
} | {{"inventory": profile.inventory, "hosts": profile.hosts, "about": "etcd_memory_budget", "text": text} |
	some profile in clusters.profiles
	budget := profile.variables.etcd_memory_budget
	budget != null
	not memory.parse_size(budget)
	text := sprintf("etcd_memory_budget is %v, which is no size", [budget])
}
