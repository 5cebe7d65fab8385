# METADATA
# title: What is told of a member, and what is not
# description: |
#   Questions that many rules ask of a profile's `etcd`. What cannot be known is neither set nor unset: a rule that needs it is silent.
package headroom.told

import data.headroom.model
import data.headroom.releases
import data.headroom.units

# Nobody sets it, and nothing that is unknown could.
unset(etcd, name) if {
	not etcd.names[name]
	not name in etcd.unknown
	not "extra_config" in etcd.unknown
}

# Nothing computes what is not pinned: etcd's own defaults are what runs.
unplanned(etcd) if {
	not etcd.planned
	not "workload" in etcd.unknown
}

# What a member runs with and who says so, [number, origin]: what is set, else the release's default. For settings that no plan computes.
whole(etcd, name) := [units.parse_count(etcd.settings[name]), etcd.names[name]] if {
	etcd.names[name]
} else := [model.settings[name][series].default, sprintf("the default of %s", [series])] if {
	unset(etcd, name)
	series := releases.series(etcd.version)
}

# As Ansible's `bool` filter reads it: INI files give texts.
true_like(value) if lower(sprintf("%v", [value])) in {"true", "yes", "on", "1", "y", "t"}

false_like(value) if lower(sprintf("%v", [value])) in {"false", "no", "off", "0", "n", "f"}

# A value as people write it: texts as they are, numbers with their thousands apart.
shown(value) := units.format_count(value) if {
	is_number(value)
	value == floor(value)
	value >= 0
} else := sprintf("%v", [value])
