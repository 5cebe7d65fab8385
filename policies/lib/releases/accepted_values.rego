# METADATA
# title: Values that etcd accepts
# description: |
#   etcd exits at the start if a value has the wrong type, and for some settings if it has the wrong form. So does Go's runtime inside it.
package headroom.releases.accepted_values

import data.headroom.releases
import data.headroom.releases.feature_gates
import data.headroom.releases.spelling
import data.headroom.releases.value_types
import data.headroom.units

# What etcd expects of an entry with a value that it refuses: {expected, meant}, without `meant` if the author's intention is unclear.
# Undefined if etcd accepts the value.
refusal(etcd, entry) := object.union({"expected": value_types.describe(entry.form, kind)}, _meant(_kind_meant(etcd, entry, kind))) if {
	kind := spelling.type_of(etcd.release, entry.form, entry.spelling)
	not spelling.is_readable(entry.form, kind, entry.value)
} else := {"expected": sprintf("one of %s", [concat(", ", sort(words))])} if {
	# A config file may have any word.
	entry.form != "key"
	spelling.setting(etcd.release, entry.form, entry.spelling) == "v2_deprecation"
	words := _v2_deprecations(etcd.release)
	not regex.match(`[$%@<>{]`, entry.value)
	count({word | some word in split(entry.value, ",")} - words) > 0
} else := object.union({"expected": _form_expected(etcd, name, value)}, _meant([meant | meant := _form_meant(name, value)])) if {
	name := spelling.setting(etcd.release, entry.form, entry.spelling)
	value := spelling.as_text(entry.value)

	# A word in capitals or in %, @ or <> is a placeholder, and an empty value counts as unset.
	not regex.match(`^([A-Z][A-Z0-9_]*)?$|[%@<>]`, value)
	not _ignores(etcd, name)
}

_meant([]) := {}

_meant([value]) := {"meant": value}

_kind_meant(etcd, entry, kind) := [meant |
	spelling.setting(etcd.release, entry.form, entry.spelling) in _milliseconds
	meant := floor(units.parse_duration(entry.value) / 1000000)
] if {
	is_string(entry.value)
	units.parse_duration(entry.value)
} else := [meant | meant := value_types.meant(entry.value, kind)]

# Source: newConfig in server/etcdmain/config.go.
_v2_deprecations(release) := words if {
	releases.numbers(release) >= [3, 6]
	words := {"gone", "write-only", "write-only-drop-data", "write-only-skip-check"}
} else := {"gone", "not-yet", "write-only", "write-only-drop-data", "write-only-skip-check"}

# etcd expects a number of these.
_milliseconds := {"heartbeat_interval", "election_timeout"}

_expected := object.union(
	{
		"auth_token": "simple, or jwt with its options",
		"auto_compaction_mode": "periodic or revision",
		"compact_hash_check_time": "a duration above 0",
		"auto_compaction_retention": "a duration with its unit, such as 5m, or a whole number, not negative",
		"gomemlimit": "a whole number of bytes, perhaps with KiB, MiB, GiB or TiB",
		"initial_cluster": "a URL with http or https and a port for each member, such as n1=https://10.0.0.1:2380",
		"initial_cluster_state": "new or existing",
		"log_level": "debug, info, warn, error, dpanic, panic or fatal",
		"logger": "zap",
		"tls_max_version": "TLS1.2 or TLS1.3",
		"tls_min_version": "TLS1.2 or TLS1.3",
	},
	{name: "URLs with http or https and a port, such as https://10.0.0.1:2379" | some name in _urls},
)

_urls := {"advertise_client_urls", "initial_advertise_peer_urls"} | _listen_urls

_listen_urls := {"listen_client_http_urls", "listen_client_urls", "listen_metrics_urls", "listen_peer_urls"}

# Until 3.4 there was another logger.
_ignores(etcd, name) if {
	name in {"log_level", "logger"}
	not _has_one_logger(etcd.version)
}

_has_one_logger(version) if semver.compare(releases.parse(version), "3.5.0") >= 0

# Older Go ignores GOMEMLIMIT.
_ignores(etcd, "gomemlimit") if semver.compare(releases.parse(etcd.version), releases.gomemlimit_since(etcd.version)) < 0

# Undefined if etcd accepts the form of a value.
_form_expected(etcd, name, value) := _expected[name] if {
	_has_wrong_form(name, value)
} else := feature_gates.expected(etcd.version, value) if {
	name == "feature_gates"
} else := _expected_beside(etcd, name, value) if {
	name in {"cipher_suites", "tls_min_version"}
} else := "URLs with an IP address or localhost, such as https://10.0.0.1:2379" if {
	name in _listen_urls
	not _binds_names(etcd.version)
	some url in split(value, ",")
	_names_host(trim_space(url))
} else := sprintf("%s and %s, or %s, beside URLs with https", [replace(needed, "_", "-") | some needed in _certificates[name]]) if {
	some url in split(lower(value), ",")
	startswith(trim_space(url), "https://")
	lacks_certificate(etcd, name)
}

# Source: Config.Validate in server/embed/config.go.
_expected_beside(etcd, "tls_min_version", "TLS1.3") := sprintf("at most the tls-max-version, which is TLS1.2 (%s)", [etcd.names.tls_max_version]) if {
	etcd.settings.tls_max_version == "TLS1.2"
}

_expected_beside(etcd, "cipher_suites", value) := sprintf("none beside a tls-min-version of TLS1.3 (%s)", [etcd.names.tls_min_version]) if {
	value != "[]"
	etcd.settings.tls_min_version == "TLS1.3"
}

# Setting with URLs → what etcd needs to listen there with https: a certificate and its key, or the third setting.
_certificates := object.union(
	{name: ["cert_file", "key_file", "auto_tls"] | some name in ["listen_client_http_urls", "listen_client_urls", "listen_metrics_urls"]},
	{"listen_peer_urls": ["peer_cert_file", "peer_key_file", "peer_auto_tls"]},
)

# Whether etcd exits if a setting has a URL with https, because it has no certificate. Only where no other file can set it.
# Sources: configurePeerListeners, configureClientListeners and createMetricsListener in server/embed/etcd.go.
lacks_certificate(etcd, urls) if {
	etcd.complete
	[cert_file, key_file, auto_tls] := _certificates[urls]
	not object.get(etcd.settings, auto_tls, false)
	some setting in [cert_file, key_file]
	not etcd.names[setting]
	count({setting, auto_tls, "extra_config"} & etcd.unknown) == 0
}

# Since 3.2, etcd binds to no name other than localhost. A placeholder is in capitals, or reads like "host_ip", "hostname", "10.0.0.x" or "a.b.c.d".
# Source: checkBindURLs in server/embed/config.go.
_names_host(url) if {
	[_, host] := regex.find_all_string_submatch_n(`^(?i:https?)://([a-z0-9.-]*[a-z][a-z0-9.-]*|\*):[0-9]+$`, url, 1)[0]
	host != "localhost"
	not regex.match(`(^|[.-])(x+|ipv[46]|(your|my)[a-z-]*|[a-z0-9]*(ip|name|address|addr))([.-]|$)|^[a-z](\.[a-z]){3}$`, host)
}

_binds_names(version) if semver.compare(releases.parse(version), "3.2.0") < 0

_has_wrong_form(name, value) if not regex.match(_forms[name], value)

_has_wrong_form(name, value) if {
	name in _urls
	some url in split(value, ",")
	_is_wrong_url(trim_space(url))
}

# No shell removed these quotes.
_has_wrong_form(name, value) if {
	name in (_urls | {"initial_cluster"})
	regex.match(`^["']`, value)
}

_has_wrong_form("initial_cluster", value) if {
	some peer in split(value, ",")
	_is_wrong_url(regex.find_all_string_submatch_n(`^[^=]*=(.*?)\s*$`, peer, 1)[0][1])
}

# Without placeholders. Source: NewURLs in client/pkg/types.
_is_wrong_url(url) if {
	regex.match(`^[\w.:/\[\]-]*[a-z0-9][\w.:/\[\]-]*$`, url)
	not regex.match(`^((?i)https?://[^/]+:[0-9]*|(?i)unixs?://.*)$`, url)
}

# Sources: NewTokenProvider in server/auth, tlsutil.GetTLSVersion, Config.Validate and parseCompactionRetention in server/embed, and readGOMEMLIMIT in Go's runtime.
_forms := {
	"auth_token": `^(simple|jwt)(,.*)?$`,
	# As text of a flag, or in nanoseconds.
	"compact_hash_check_time": `^\+?[0-9a-zµμ.]*[1-9]`,
	"tls_max_version": `^TLS1\.[23]$`,
	"tls_min_version": `^TLS1\.[23]$`,
	"auto_compaction_mode": `^(periodic|revision)$`,
	# With a negative duration etcd panics (3.5), or compacts everything at once.
	"auto_compaction_retention": `^\+?([0-9]+|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`,
	"initial_cluster_state": `^(new|existing)$`,
	"logger": `^zap$`,
	# zap decides. Its newer releases accept "warning", too.
	"log_level": `^(?i)(debug|info|warn|warning|error|dpanic|panic|fatal)$`,
	"gomemlimit": `^(off|[0-9]+(([KMGT]i)?B)?)$`,
}

# Go's durations have no days.
_form_meant("auto_compaction_retention", value) := sprintf("%dh", [to_number(days) * 24]) if {
	[_, days] := regex.find_all_string_submatch_n(`^([1-9][0-9]{0,4})d$`, value, 1)[0]
}

# Go writes 3GiB for what is often called 3GB or 3g.
_form_meant("gomemlimit", value) := sprintf("%s%siB", [number, upper(unit)]) if {
	[_, number, unit] := regex.find_all_string_submatch_n(`^\s*([0-9]+)\s*([KMGTkmgt])[Ii]?[Bb]?\s*$`, value, 1)[0]
}
