# METADATA
# title: Settings of a member
# description: |
#   Which settings are set, defaulted or unknown. `etcd` is what settings.dispatch returns for a member. A setting that may be set by
#   something unknown is neither set nor unset: these functions are undefined for it, and the rule that asks reports nothing.
package headroom.settings

import data.headroom.model
import data.headroom.releases
import data.headroom.units

# Unset, and no unknown variable could set it.
is_unset(etcd, name) if {
	not etcd.names[name]
	not name in etcd.unknown
	not "extra_config" in etcd.unknown
}

# An empty path counts as unset.
has_no_file(etcd, name) if is_unset(etcd, name)

has_no_file(etcd, name) if etcd.settings[name] == ""

# Only Headroom's own variables and a running member prove that a setting is unset. For other files this is an assumption: the setting may be elsewhere.
proves_unset(etcd) if not etcd.format

proves_unset(etcd) if etcd.format == "running member"

# Variables that must be mappings but are not: variable → what is wrong.
malformed(variables) := {variable: text |
	some variable in ["etcd_extra_config", "etcd_workload"]
	value := variables[variable]
	not type_name(value) in {"null", "object"}
	instead := sprintf("write it in YAML, or all of it as JSON, -e '{%q: {…}}'", [variable])
	text := sprintf("%s is %s, but must be a mapping: %s", [variable, json.marshal(value), instead])
}

# No plan will choose the settings that are not pinned, so etcd's own defaults apply.
is_unplanned(etcd) if {
	not etcd.planned
	not "workload" in etcd.unknown
}

# [number, origin] of a setting that no plan chooses: as set, else the release's default, or that of all releases.
effective_number(etcd, name) := [units.parse_count(etcd.settings[name]), etcd.names[name]] if {
	etcd.names[name]
} else := [model.settings[name][series].default, sprintf("the default of %s", [series])] if {
	is_unset(etcd, name)
	series := releases.series(etcd.release)
} else := [default_of_all, "etcd's default"] if {
	is_unset(etcd, name)
	defaults := {entry.default | some entry in model.settings[name]}
	count(defaults) == 1
	some default_of_all in defaults
}

# How many revisions etcd keeps if the retention in revision mode is a duration: one for each nanosecond.
revisions_of_duration(etcd) := revisions if {
	etcd.settings.auto_compaction_mode == "revision"
	revisions := units.parse_duration(etcd.settings.auto_compaction_retention)
	revisions > 0
}

# Whether Go collects garbage only at GOMEMLIMIT. Headroom's own variable is a number above 0.
is_collector_off(etcd) if {
	etcd.format
	regex.match(`^(off|-[0-9]+)$`, sprintf("%v", [etcd.settings.gogc]))
}

# Like Ansible's `bool` filter, because INI files turn booleans into texts.
is_true(value) if lower(sprintf("%v", [value])) in {"true", "yes", "on", "1", "y", "t"}

is_false(value) if lower(sprintf("%v", [value])) in {"false", "no", "off", "0", "n", "f"}
