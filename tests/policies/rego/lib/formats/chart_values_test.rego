package headroom_test.formats.chart_values

import data.headroom.formats.chart_values

_values := {"replicaCount": 2, "autoCompactionRetention": "1h"}

resources := [
	[{"kind": "HelmChart", "spec": {"valuesContent": "replicaCount: 2\nautoCompactionRetention: 1h\n"}}, [_values]],
	[{"kind": "HelmChartConfig", "spec": {"valuesContent": "replicaCount: 2\nautoCompactionRetention: 1h\n"}}, [_values]],
	[{"kind": "HelmRelease", "spec": {"values": _values}}, [_values]],
	[{"kind": "Application", "spec": {"source": {"helm": {"valuesObject": _values}}}}, [_values]],
	[{"kind": "Application", "spec": {"source": {"helm": {"values": json.marshal(_values)}}}}, [_values]],
	[{"kind": "HelmChart", "spec": {"chart": "bitnami/etcd", "valuesContent": "a: 1"}}, [{"a": 1, "headroom_chart": "bitnami/etcd"}]],
	[{"kind": "HelmRelease", "spec": {"chart": {"spec": {"chart": "etcd"}}, "values": {"a": 1}}}, [{"a": 1, "headroom_chart": "etcd"}]],
	[{"kind": "Application", "spec": {"source": {"chart": "etcd", "helm": {"valuesObject": {"a": 1}}}}}, [{"a": 1, "headroom_chart": "etcd"}]],
	[{"kind": "Application", "spec": {"source": _source("etcd", 1), "sources": []}}, [{"a": 1, "headroom_chart": "etcd"}]],
	[
		{"kind": "Application", "spec": {"source": _source("x", 0), "sources": [_source("etcd", 1), _source("other", 2)]}},
		[{"a": 1, "headroom_chart": "etcd"}, {"a": 2, "headroom_chart": "other"}],
	],
	[{"kind": "ApplicationSet", "spec": {"template": {"spec": {"sources": [_source("etcd", 1)]}}}}, [{"a": 1, "headroom_chart": "etcd"}]],
	[{"kind": "ApplicationSet", "spec": {"template": {"spec": {"source": _source("etcd", 1)}}}}, [{"a": 1, "headroom_chart": "etcd"}]],
	[{"kind": "Application", "spec": {"sources": [{"ref": "values"}, 5]}}, []],
	[{"kind": "Application"}, []],
	[{"kind": "HelmChart", "spec": {"valuesContent": "{{ template }}: {"}}, []],
	[{"kind": "HelmChart", "spec": {"valuesContent": "text"}}, []],
	[{"kind": "HelmChart", "spec": {"valuesContent": 5}}, []],
	[{"kind": "HelmChart"}, []],
	[{"kind": "Pod", "spec": {"values": _values}}, []],
]

_source(chart, number) := {"chart": chart, "helm": {"valuesObject": {"a": number}}}

test_documents[note] if {
	some [resource, expected] in resources
	note := json.marshal(resource)
	chart_values.documents(resource) == expected
}
