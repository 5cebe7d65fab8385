# METADATA
# title: Manifests of Kubernetes
# description: Containers that run etcd, in static pods as kubeadm writes them and in whatever has a pod's template.
package headroom.files.manifest

import data.headroom.files.reading
import data.headroom.files.words
import data.headroom.units

# Pod or workload → statement.
statements(document) := object.union_n([{_name(document, container, containers): _statement(document, container)} |
	containers := {container |
		some container in _spec(document).containers
		is_object(container)
		reading.runs_etcd(object.get(container, "image", null), _words(container))
	}
	some container in containers
])

_spec(document) := document.spec if {
	document.kind == "Pod"
} else := document.spec.template.spec if {
	document.kind in {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"}
}

_name(document, container, containers) := sprintf("%v", [object.get(document, ["metadata", "name"], object.get(container, "name", "etcd"))]) if {
	count(containers) == 1
} else := sprintf("%v", [object.get(container, "name", "etcd")])

_words(container) := words.split_words([object.get(container, "command", []), object.get(container, "args", [])])

_statement(document, container) := reading.statement("manifest", object.union_n([
	{
		"given": array.concat(words.flags(_words(container)), reading.environment_of(object.get(container, "image", null), environment)),
		"unknown": object.union_n([reading.passed_on(environment), _elsewhere(container)]),
		"kubernetes": _of_api_server(document),
	},
	reading.release(object.get(container, "image", null)),
	_limit(container),
])) if {
	# Where a name comes twice the last one counts.
	environment := object.union_n([{name: value} |
		some variable in object.get(container, "env", [])
		name := variable.name
		value := object.get(variable, "value", null)
	])
}

# As kubeadm labels its static pod: the API server beside it compacts by itself.
_of_api_server(document) if {
	document.metadata.namespace == "kube-system"
	document.metadata.labels.component == "etcd"
} else := false

_elsewhere(container) := {"envFrom": ["extra_config", "settings may come from there, and it is not read"]} if {
	count(container.envFrom) > 0
} else := {}

_limit(container) := {"limit": {"name": "resources.limits.memory", "bytes": bytes}} if {
	bytes := _bytes(container.resources.limits.memory)
} else := {}

_decimal := {"k": 1000, "M": 1000000, "G": 1000000000, "T": 1000000000000}

# Kubernetes counts 1M as 1,000,000 and 1Mi as 1,048,576.
_bytes(quantity) := to_number(number) * _decimal[unit] if {
	[_, number, unit] := regex.find_all_string_submatch_n(`^([0-9]{1,9})([kMGT])$`, quantity, 1)[0]
} else := units.parse_size(sprintf("%sB", [quantity])) if {
	regex.match(`^[0-9.]+[KMGT]i$`, quantity)
} else := units.parse_size(quantity)
