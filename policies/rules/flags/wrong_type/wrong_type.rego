# METADATA
# title: Every setting has the type that etcd expects
# description: |
#   etcd exits at start on a value of the wrong type: a quota of "8G" is a string, but etcd expects a number of bytes.
#   It also exits on a value of another form and on unknown feature gates: "1d" is not a duration in Go, which has no unit for days. A boolean flag takes its value
#   after "=" only: etcd exits on the word "true" in --client-cert-auth true. No shell splits an item of a list or removes
#   its quotes: "--data-dir /data" is the name of one flag, which etcd does not have. In an environment file, systemd takes a comment
#   behind a value as part of the value, so etcd exits on the number, or creates its data elsewhere. A URL with https, for clients, peers
#   or metrics, needs a certificate and its key: this is reported only if no other file can set them.
# custom:
#   id: flags/wrong_type
#   severity: deny
#   fix: Write the value as etcd expects it
#   source: embed.Config of each release
package headroom.rules.flags.wrong_type

import data.headroom.clusters
import data.headroom.releases.accepted_values
import data.headroom.releases.spelling
import data.headroom.result
import data.headroom.settings

deny contains finding if some finding in result.findings("flags/wrong_type", problems)

problems contains problem if {
	some profile in clusters.profiles
	some entry in profile.etcd.given
	refusal := accepted_values.refusal(profile.etcd, entry)
	text := sprintf("%s is %s, but etcd expects %s%s", [entry.name, json.marshal(entry.value), refusal.expected, _hint(entry, refusal)])
	problem := _solvable(result.problem(profile, entry.name, text), refusal)
}

problems contains result.problem(profile, "etcd_extra_config", text) if {
	some profile in clusters.profiles
	text := settings.malformed(profile.variables).etcd_extra_config
}

# Go's flag package ends the flags at such a word.
problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	some entry in profile.etcd.given
	text := sprintf("%s is followed by the word %q, on which etcd exits: %s", [entry.name, entry.stray, _instead(entry)])
}

problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	some entry in profile.etcd.given
	text := sprintf("%q is one argument, %s%s", [entry.joined, _of_joined(entry), _of_unit(profile.etcd)])
}

# systemd has no comments behind a value.
problems contains result.problem(profile, entry.name, text) if {
	some profile in clusters.profiles
	some entry in profile.etcd.given
	entry.commented
	not accepted_values.refusal(profile.etcd, entry)
	text := sprintf("%s is %s, because systemd takes a comment behind a value as part of it: write the comment on a line of its own", [entry.name, json.marshal(entry.value)])
}

_of_joined(entry) := sprintf("so all behind the equals sign is its value: write %s and the others as arguments of their own", [entry.name]) if {
	regex.match(`^--?[\w-]+=`, entry.joined)
} else := "and etcd exits because it has no flag of this name: write each flag as an argument of its own" if {
	regex.match(`\s--?[A-Za-z]`, entry.joined)
} else := sprintf("and etcd exits because it has no flag of this name: write %s=%s", [entry.name, entry.value])

_of_unit(etcd) := ", in a unit with $NAME in place of ${NAME}" if {
	etcd.format == "systemd unit"
} else := ""

_instead(entry) := sprintf("write %s=%s", [entry.name, entry.stray]) if {
	spelling.is_readable("flag", "bool", entry.stray)
} else := "it is neither a flag nor the value of one"

_hint(entry, refusal) := ": write it without the quotes" if {
	is_string(entry.value)
	sprintf("%v", [refusal.meant]) == entry.value
} else := ": write it without the quotes" if {
	entry.form == "key"
	entry.value in {"true", "false"}
	refusal.expected == "true or false"
} else := ": write it without the quotes inside" if {
	regex.match(`^("[^"]*"|'[^']*')$`, entry.value)
} else := sprintf(": that is %v", [refusal.meant]) if {
	refusal.meant
} else := ": write it in quotes" if {
	refusal.expected == "a text"
	is_number(entry.value)
} else := ""

# Where the author's value is clear, the fix is that value.
_solvable(problem, refusal) := result.with_value(problem, refusal.meant) if {
	refusal.meant
} else := problem
