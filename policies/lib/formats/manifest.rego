# METADATA
# title: Kubernetes manifests
# description: The containers that run etcd, in a static pod as kubeadm writes it or in any workload with a pod template.
package headroom.formats.manifest

import data.headroom.formats.command_line
import data.headroom.formats.container
import data.headroom.formats.quantity
import data.headroom.formats.statement_builder

# Pod, or container if a pod has several with etcd → statement.
statements(document) := object.union_n([{_name(document, candidate, containers): _statement(document, candidate)} |
	containers := {candidate |
		some candidate in _spec(document).containers
		is_object(candidate)
		container.runs_etcd(object.get(candidate, "image", null), _words(candidate))
	}
	some candidate in containers
])

_spec(document) := document.spec if {
	document.kind == "Pod"
} else := document.spec.template.spec if {
	document.kind in {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}
}

_name(document, candidate, containers) := sprintf("%v", [object.get(document, ["metadata", "name"], object.get(candidate, "name", "etcd"))]) if {
	count(containers) == 1
} else := sprintf("%v", [object.get(candidate, "name", "etcd")])

_words(spec) := command_line.words([object.get(spec, "command", []), object.get(spec, "args", [])])

_statement(document, spec) := statement_builder.build("manifest", object.union_n([
	{
		"given": array.concat(command_line.flags(_words(spec)), container.environment_of_image(object.get(spec, "image", null), environment)),
		"unknown": object.union_n([container.inherited(environment), container.placeholders(_words(spec)), _other_sources(spec)]),
		"kubernetes": _serves_kubernetes(document),
	},
	container.release(object.get(spec, "image", null)),
	_limit(spec),
])) if {
	# The last value of a name counts.
	environment := object.union_n([{name: value} |
		some variable in object.get(spec, "env", [])
		name := variable.name
		value := object.get(variable, "value", null)
	])
}

# By the namespace, as only kubeadm labels its manifest. An API server compacts the etcd that it uses.
_serves_kubernetes(document) if {
	document.metadata.namespace == "kube-system"
} else := false

_other_sources(spec) := {"envFrom": ["extra_config", "settings may come from there, and it is not read"]} if {
	count(spec.envFrom) > 0
} else := {}

_limit(spec) := {"limit": {"name": "resources.limits.memory", "bytes": bytes}} if {
	bytes := quantity.bytes(spec.resources.limits.memory)
} else := {}
