# METADATA
# title: Values of charts in resources
# description: |
#   The values that a resource passes to a Helm chart: HelmChart and HelmChartConfig of k3s, HelmRelease of Flux, Application of Argo CD.
package headroom.formats.chart_values

# Each is a document of its own, as a values file is. headroom_chart names the chart, if the resource does.
documents(resource) := [object.union(values, _chart(resource)) |
	some place in _places[resource.kind]
	some values in _values(object.get(resource, place, null))
	is_object(values)
]

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
