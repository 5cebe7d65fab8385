# METADATA
# title: Services of Docker Compose
# description: The services of a Compose file that run etcd. Command and environment may be a text, a list or a map each.
package headroom.files.compose

import data.headroom.files.reading
import data.headroom.files.words
import data.headroom.units

# Service → statement.
statements(document) := {name: _statement(service) |
	some name, service in document.services
	is_object(service)
	reading.runs_etcd(object.get(service, "image", null), _words(service))
}

_words(service) := words.split_words([object.get(service, "entrypoint", ""), object.get(service, "command", "")])

_statement(service) := reading.statement("compose", object.union_n([
	{
		"given": array.concat(words.flags(_words(service)), reading.environment_of(object.get(service, "image", null), environment)),
		"unknown": object.union_n([reading.passed_on(environment), _elsewhere(service)]),
	},
	reading.release(object.get(service, "image", null)),
	_limit(service),
	_memlock(service),
])) if {
	environment := _environment(service)
}

# Where a name comes twice the last one counts.
_environment(service) := service.environment if {
	is_object(service.environment)
} else := object.union_n([{name: value} |
	some line in service.environment
	is_string(line)
	[name, value] := _pair(line)
])

_pair(line) := [substring(line, 0, at), substring(line, at + 1, -1)] if {
	at := indexof(line, "=")
	at > 0
} else := [line, null]

# Settings that another file may hold: they are not read here.
_elsewhere(service) := {sprintf("%s of the service", [key]): ["extra_config", "settings may come from there, and it is not read"] |
	some key in ["env_file", "extends"]
	service[key]
}

_limit(service) := {"limit": {"name": "deploy.resources.limits.memory", "bytes": bytes}} if {
	bytes := units.parse_size(service.deploy.resources.limits.memory)
} else := {"limit": {"name": "mem_limit", "bytes": bytes}} if {
	bytes := units.parse_size(service.mem_limit)
} else := {}

# What the container may lock in memory; -1 is no bound.
_memlock(service) := {"memlock": bytes} if {
	bytes := units.parse_count(_soft(service.ulimits.memlock))
	bytes >= 0
} else := {}

_soft(limit) := limit.soft if {
	is_object(limit)
} else := limit
