# METADATA
# title: Values of charts in resources
# description: |
#   The values that a resource passes to a Helm chart: HelmChart and HelmChartConfig of k3s, HelmRelease of Flux, Application and
#   ApplicationSet of Argo CD.
package headroom.formats.chart_values

# Each is a document of its own, as a values file is. headroom_chart names the chart, if the resource does.
documents(resource) := [object.union(values, _chart(part)) |
	some part in _parts(resource)
	some place in _places[part.kind]
	some values in _values(object.get(part, place, null))
	is_object(values)
]

# An Application for each source. With `sources` Argo CD ignores `source`.
_parts(resource) := [{"kind": "Application", "spec": {"source": source}} | some source in _sources(_application(resource))] if {
	_application(resource)
} else := [resource]

_application(resource) := resource.spec if {
	resource.kind == "Application"
} else := resource.spec.template.spec if {
	resource.kind == "ApplicationSet"
}

_sources(spec) := spec.sources if {
	count(spec.sources) > 0
} else := [spec.source]

_places := {
	"HelmChart": [["spec", "valuesContent"]],
	"HelmChartConfig": [["spec", "valuesContent"]],
	"HelmRelease": [["spec", "values"]],
	"Application": [["spec", "source", "helm", "values"], ["spec", "source", "helm", "valuesObject"]],
}

_chart(resource) := {"headroom_chart": name} if {
	name := object.get(resource, _charts[resource.kind], null)
	is_string(name)
} else := {}

_charts := {
	"HelmChart": ["spec", "chart"],
	"HelmRelease": ["spec", "chart", "spec", "chart"],
	"Application": ["spec", "source", "chart"],
}

_values(given) := [given] if {
	is_object(given)
} else := [yaml.unmarshal(given)] if {
	is_string(given)
	yaml.is_valid(given)
} else := []
