# METADATA
# title: Containers
# description: What Compose services and Kubernetes containers have in common, namely an image, a command line and environment variables.
package headroom.formats.container

import data.headroom.files
import data.headroom.formats.command_line
import data.headroom.formats.statement_builder
import data.headroom.releases
import data.headroom.releases.spelling

# A variable without a value is inherited from the shell, see inherited(). etcd ignores an empty variable.
environment(variables) := [{"name": name, "form": "env", "spelling": name, "value": value} |
	some name, value in variables
	spelling.is_etcd_variable(name)
	not value in {null, ""}
	not _is_helper(name)
]

# Such as ETCD_PORT, which other texts expand. It is not a setting.
_is_helper(name) if {
	not spelling.is_of_any_series("env", name)
	name in files.expanded
}

# The list of members for the script of an image of etcd.
_listed_peers(reference, command, variables) := [{"name": "INITIAL_CLUSTER", "form": "env", "spelling": "ETCD_INITIAL_CLUSTER", "value": value} |
	_has_scripts(reference, command)
	is_etcd(reference)
	not variables.ETCD_INITIAL_CLUSTER
	value := variables.INITIAL_CLUSTER
	regex.match(`^[\w.-]+=https?://`, value)
]

# Without the variables that an image's own scripts read, such as Bitnami's ETCD_ROOT_PASSWORD.
environment_of_image(reference, command, variables) := array.concat(
	[entry |
		some entry in environment(variables)
		not _is_read_by_image(reference, command, entry.spelling)
	],
	_listed_peers(reference, command, variables),
)

_is_read_by_image(reference, command, name) if {
	_has_scripts(reference, command)
	not spelling.is_known(null, "env", name)
}

_has_scripts(reference, _) if contains(reference, "bitnami")

# An image of etcd that etcd did not publish, if the file does not state its command.
_has_scripts(reference, command) if {
	contains(reference, "/")
	not regex.match(_published, reference)
	not _names_etcd(command)
}

_names_etcd(command) if command_line.executable(command) >= 0

_published := `(^|/)(coreos|etcd-development|google_containers|google-containers)/etcd|^(k8s\.gcr\.io|registry\.k8s\.io)/`

# Name → [canonical name, why its value is unknown]. A placeholder for a name, as in a loop of a template, may become any variable.
inherited(variables) := object.union(
	{name: [statement_builder.canonical_name({"form": "env", "spelling": name}), "it is passed on from where this file is used"] |
		some name, value in variables
		spelling.is_etcd_variable(name)
		value == null
	},
	{name: ["extra_config", statement_builder.filled_in] | some name, _ in variables; regex.match(`\{\{|\$[({]`, name)},
)

# What may become any flag or variable: word → [canonical name, why its value is unknown].
placeholders(command) := object.union(_flags_to_fill_in(command), _sources(command))

# After a flag, a placeholder is the flag's value.
_flags_to_fill_in(command) := {word: ["extra_config", statement_builder.filled_in] |
	words := command_line.arguments(command)
	some position, word in words
	regex.match(`^(\$[({A-Za-z_]|\{\{|\{%)`, word)
	not regex.match(`^--?[A-Za-z][A-Za-z0-9-]*$`, array.concat([""], words)[position])
}

# Commands of a shell's script before etcd that may set any variable. headroom-lint has the same list.
_sources(command) := {sprintf("%s %s", [word, following]): ["extra_config", "settings may come from there, and it is not read"] |
	some position, word in array.slice(command, 0, command_line.executable(command))
	following := trim_right(command[position + 1], ";")
	_sets_variables(word, following)
}

_sets_variables(word, file) if {
	word in {".", "source"}
	regex.match(`^[\w/~.${]`, file)
	not regex.match(_library, file)
}

_sets_variables(word, output) if {
	word in {"env", "export"}
	regex.match("^([$][({A-Za-z_]|`)", output)
}

# Canonical name → [flag, variable] for flags such as --name=$ETCD_NAME after `set -a` and a sourced file: etcd gets the file's variable, too.
repeated(command) := {name: [entry.name, variable] |
	before := array.slice(command, 0, command_line.executable(command))
	_exports_sourced(before)
	some entry in command_line.flags(command)
	variable := sprintf("ETCD_%s", [upper(replace(entry.spelling, "-", "_"))])
	entry.value in {sprintf("$%s", [variable]), sprintf("${%s}", [variable])}

	# The script's own assignment may not be exported.
	every word in before { not startswith(word, sprintf("%s=", [variable])) }
	name := spelling.setting(null, "flag", entry.spelling)
}

# Setting → [flag, variable] for empty variables beside a flag. Alone, etcd ignores an empty variable; beside its flag, it exits, unless it has a
# config file. Source: verifyEnv in pkg/flags/flag.go.
emptied(command, variables) := {lower(trim_prefix(variable, "ETCD_")): [min(found), sprintf("%s (empty)", [variable])] |
	some variable, "" in variables
	flags := command_line.flags(command)
	found := {entry.name | some entry in flags; variable == sprintf("ETCD_%s", [upper(replace(entry.spelling, "-", "_"))])}
	count(found) > 0
	not _has_config_file(flags, variables)
}

_has_config_file(_, variables) if variables.ETCD_CONFIG_FILE

_has_config_file(flags, _) if {
	some entry in flags
	entry.spelling == "config-file"
}

_exports_sourced(before) if {
	count({word | some word in before; regex.match(`^(.*/)?(env|unset|sudo|doas|su|runuser)$`, word)}) == 0
	some start, "set" in before
	regex.match(`^(-[a-z]*a[a-z]*|-o allexport);?$`, _option_of_set(before, start))
	some position, word in before
	position > start
	_sets_variables(word, trim_right(before[position + 1], ";"))
	word in {".", "source"}
	count({other |
		some other in numbers.range(start + 1, position)
		before[other] == "set"
		regex.match(`^\+([a-z]*a|o allexport)`, _option_of_set(before, other))
	}) == 0
}

_option_of_set(words, position) := concat(" ", array.slice(words, position + 1, position + 3)) if {
	regex.match(`^[-+]o$`, words[position + 1])
} else := words[position + 1]

# Files with functions, or with facts about the system.
_library := `(^|/)(\.?(bashrc|profile|bash_profile)|(init-|rc-?)?functions?(\.sh)?|(os|lsb)-release|activate|bash_completion|rc\.subr)$`

# Repository and tag of an image: ["etcd", "v3.5.21"].
_image(reference) := [parts[count(parts) - 1], tag] if {
	is_string(reference)
	[_, name, tag] := regex.find_all_string_submatch_n(`^([^@]*?)(?::([^:/@]*))?(?:@.*)?$`, reference, 1)[0]
	parts := split(name, "/")
}

is_etcd(reference) if _image(reference)[0] == "etcd"

# A container without a command, or with flags alone, runs the executable of its image.
runs_etcd(reference, command) if {
	count(command) == 0
	is_etcd(reference)
}

runs_etcd(reference, command) if {
	startswith(command[0], "-")
	is_etcd(reference)
}

runs_etcd(_, command) if command_line.executable(command) >= 0

# An image of any name with flags that only a member of etcd has.
runs_etcd(_, command) if {
	startswith(command[0], "-")
	some entry in command_line.flags(command)
	entry.spelling in {"initial-advertise-peer-urls", "initial-cluster", "listen-client-urls", "listen-peer-urls"}
}

# {complete} if nothing but the container's command and environment can set etcd's settings: etcd's own images have no settings, and no script runs.
# written: {command, environment} before placeholders got their defaults, because a placeholder may become any flag.
completeness(reference, command, written) := {"complete": true} if {
	has_no_settings(reference)
	_starts_at_once(command)
	not _has_hidden_settings(written)
} else := {}

# Images of etcd that state neither a setting nor a volume.
has_no_settings(reference) if regex.match(_images_without_settings, reference)

_images_without_settings := `(^|/)(coreos|etcd-development)/etcd(:|@|$)|^(registry\.k8s\.io|k8s\.gcr\.io)/etcd(:|@|$)`

_starts_at_once([])

_starts_at_once(command) if command_line.executable(command) == 0

# A word that begins with a placeholder.
_has_hidden_settings(written) if regex.match(`[\s"'](--?)?(\$|\{\{|\{%)`, json.marshal(written.command))

# A variable may be set to an empty default, and etcd ignores empty variables.
_has_hidden_settings(written) if regex.match(`\$\{\w+:?-\}"|\{\{|\{%`, json.marshal(written.environment))

_has_hidden_settings(written) if {
	some line in written.environment
	is_array(written.environment)
	startswith(line, "$")
}

# An image of any name, with variables that only a member of etcd has. It may set more.
is_own_image(reference, command, variables) if {
	count(command) == 0
	not is_etcd(reference)
	some name, _ in variables
	name in {"ETCD_INITIAL_ADVERTISE_PEER_URLS", "ETCD_INITIAL_CLUSTER", "ETCD_LISTEN_PEER_URLS"}
}

# A script in an image of etcd, with variables that only a member has. It may set more.
is_own_image(reference, [script], variables) if {
	is_etcd(reference)
	endswith(script, ".sh")
	some name, _ in variables
	name in {"ETCD_INITIAL_ADVERTISE_PEER_URLS", "ETCD_INITIAL_CLUSTER", "ETCD_LISTEN_CLIENT_URLS", "ETCD_LISTEN_PEER_URLS"}
}

# Variables that only a server has, without a command. Clients have variables of their own, such as ETCD_ELECTION_PREFIX.
is_part_of_member([], variables) if {
	some name, _ in variables
	spelling.is_server_variable(name)
	spelling.is_known(null, "env", name)
}

# An image named after etcd that opens the port of peers. It may set further settings, and its tag may not be etcd's release.
is_named_after_etcd(reference, command, ports) if {
	count(command) == 0
	not is_etcd(reference)
	regex.match(`(^|[-_])etcd([-_]|$)`, _image(reference)[0])
	not regex.match(`proxy|gateway|cluster|goreman|operator|backup|restore`, reference)
	some port in ports
	regex.match(`(^|:)2380(/|$)`, sprintf("%v", [port]))
}

# A published image that starts members of etcd with settings of its own. Its tag is etcd's release.
is_own_image(reference, [], _) if regex.match(`^(docker\.io/)?soyking/etcd-goreman(:|@|$)`, reference)

# {name, source} of the mount that holds the data directory, from candidates (path → source); undefined if there is none. Of mounts within each
# other, the innermost counts.
data_mount(given, candidates) := {"name": entry.name, "source": candidates[path]} if {
	entry := _data_dir(given)
	path := max({target | some target, _ in candidates; startswith(_folder(entry.value), _folder(target))})
}

# The last flag, else the variable.
_data_dir(given) := entries[count(entries) - 1] if {
	spellings := ["ETCD_DATA_DIR", "data-dir"]
	entries := [entry | some spelling in spellings; some entry in given; entry.spelling == spelling]
}

# The part of a statement about a data directory in a volume. folders: path in the container → folder of the host, empty for other volumes.
data_on_host(given, folders) := {"mounted": ["data_dir"], "facts": facts} if {
	mount := data_mount(given, folders)
	facts := {"data_dir_on_host": {"name": mount.name, "value": mount.source} | startswith(mount.source, "/")}
} else := {}

# ["data_dir"] where a container may have a data directory that no flag names: images other than etcd's own set it, and the directory in which
# etcd's images start may be a volume. targets: where volumes are mounted.
may_set_data_dir(reference, _) := ["data_dir"] if not _is_published(reference)

may_set_data_dir(reference, targets) := found if {
	_is_published(reference)
	folder := _start_folder(reference)
	found := [name | name := "data_dir"; count({target | some target in targets; regex.match(folder, target)}) > 0]
}

# Volumes in which NAME.etcd may be. etcd's images start in / before 3.4.24 and 3.5.7, and in /var/lib/etcd since (Dockerfile-release of
# etcd-io/etcd). Kubernetes' images start in /, but copies in other registries may be of either kind.
_start_folder(reference) := `^/([^/]+\.etcd)?(/|$)` if {
	_starts_in_root(release(reference).version)
} else := `^/(var/?|var/lib/?|var/lib/etcd(/.*)?)?$` if {
	regex.match(_images_of_etcd, reference)
	releases.parse(release(reference).version)
} else := `^/(var|[^/]+\.etcd)?(/|$)`

_starts_in_root(version) if semver.compare(releases.parse(version), "3.4.24") < 0

_starts_in_root(version) if {
	semver.compare(releases.parse(version), "3.5.0") >= 0
	semver.compare(releases.parse(version), "3.5.7") < 0
}

_images_of_etcd := `(^|/)(coreos|etcd-development)/etcd(:|@|$)`

# Remove the settings if a config file may be mounted into Bitnami's image: etcd then ignores its flags and its environment. The image's script
# looks for it in conf/etcd.yaml, formerly in conf/etcd.conf.yml, so a folder below conf, such as one with certificates, does not matter.
# targets: where volumes that may hold files are mounted.
unless_configured(reference, targets, found) := object.union(found, {
	"given": [],
	"unknown": {path: ["extra_config", "a config file there replaces flags and environment, and it is not read"]},
	"silent": ["extra_config", "initial_cluster"],
}) if {
	contains(reference, "bitnami")
	path := min({target | some target in targets; regex.match(`^/(opt/)?bitnami/etcd/conf(/?$|/[^/]*(\.(ya?ml|json|conf)$|[${]))`, target)})
} else := found

# Whether an image is etcd's own or a copy of it, which has the same name in another registry. Rancher mirrors it under a name of its own.
_is_published(reference) if regex.match(_images_of_etcd, sprintf("%v", [reference]))

_is_published(reference) if regex.match(`(^|/)rancher/mirrored-coreos-etcd(:|@|$)`, sprintf("%v", [reference]))

# Kubernetes' images for one architecture do not set a data directory either.
_is_published(reference) if regex.match(`^(registry\.k8s\.io|k8s\.gcr\.io|gcr\.io/google[_-]containers)/etcd-\w+(:|@|$)`, sprintf("%v", [reference]))

_is_published(reference) if {
	regex.match(`^(localhost|[^/]*[.:][^/]*)/(.*/)?etcd(:|@|$)`, sprintf("%v", [reference]))
	not regex.match(_builders, reference)
}

# These registries and organizations publish images of etcd with their own settings. On Docker Hub, anyone can.
_builders := `^(index\.)?docker\.io/|(^|[/.])(bitnami|bitnamilegacy|bitnamisecure|chainguard|cleanstart|openshift[0-9]*|rapidfort|redhat|rhel[0-9]*|wolfi)[/.]`

_folder(path) := sprintf("%s/", [trim_suffix(path, "/")])

# {version} from an image's tag, or {no_version} with the reason. Images of other programs, and unofficial images of etcd, may have version
# numbers of their own: etcd has published no 1.0.
release(reference) := {"version": version} if {
	[name, tag] := _image(reference)
	contains(lower(name), "etcd")
	version := _number_of_tag(tag)
	_is_tag_of_etcd(reference, version)
} else := no_release(reference)

_is_tag_of_etcd(_, version) if releases.is_known(version)

_is_tag_of_etcd(reference, _) if regex.match(_published, reference)

# The release in a tag that stands apart from its image, unless it is unlikely to be a release of etcd.
release_of_tag(tag) := version if {
	version := _number_of_tag(tag)
	not releases.is_implausible(version)
}

# A tag may name the series alone, and values of a chart may have the digest in it.
_number_of_tag(tag) := version if {
	version := releases.parse(_without_digest(tag))
} else := _without_digest(tag) if {
	releases.end_of_life(_without_digest(tag))
}

_without_digest(tag) := split(tag, "@")[0]

no_release(reference) := {"no_version": sprintf("the image %q names no release", [reference])} if {
	is_string(reference)
} else := {}
