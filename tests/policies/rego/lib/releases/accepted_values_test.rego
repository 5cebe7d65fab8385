package headroom_test.releases.accepted_values

import data.headroom.releases.accepted_values

# Setting, value, whether etcd 3.7 starts with it.
values := [
	["ETCD_AUTO_COMPACTION_RETENTION", "5m", true],
	["ETCD_AUTO_COMPACTION_RETENTION", "1h30m", true],
	["ETCD_AUTO_COMPACTION_RETENTION", ".5h", true],
	["ETCD_AUTO_COMPACTION_RETENTION", "08", true],
	["ETCD_AUTO_COMPACTION_RETENTION", "", true],
	["ETCD_AUTO_COMPACTION_RETENTION", "RETENTION", true],
	["ETCD_AUTO_COMPACTION_RETENTION", "1.5", false],
	["ETCD_AUTO_COMPACTION_RETENTION", "-5", false],
	["ETCD_AUTO_COMPACTION_RETENTION", "8 hours", false],
	["ETCD_AUTO_COMPACTION_MODE", "periodic", true],
	["ETCD_AUTO_COMPACTION_MODE", "revisions", false],
	["ETCD_STRANGE", "x", true],
	["ETCD_AUTH_TOKEN", "simple", true],
	["ETCD_AUTH_TOKEN", "jwt,pub-key=/k.pub,priv-key=/k,sign-method=RS256,ttl=10m", true],
	["ETCD_AUTH_TOKEN", "foo", false],
	["ETCD_AUTH_TOKEN", "Simple", false],
	["ETCD_TLS_MIN_VERSION", "TLS1.2", true],
	["ETCD_TLS_MIN_VERSION", "TLS1.0", false],
	["ETCD_TLS_MAX_VERSION", "TLS1.3", true],
	["ETCD_TLS_MAX_VERSION", "1.3", false],
	["ETCD_FEATURE_GATES", "InitialCorruptCheck=true, CompactHashCheck=F,", true],
	["ETCD_FEATURE_GATES", "InitialCorruptCheck", false],
	["ETCD_FEATURE_GATES", "InitialCorruptCheck=true;CompactHashCheck=true", false],
	["ETCD_FEATURE_GATES", "InitialCorruptCheck=yes", false],
	["GOMEMLIMIT", "3GiB", true],
	["GOMEMLIMIT", "3221225472", true],
	["GOMEMLIMIT", "10B", true],
	["GOMEMLIMIT", "off", true],
	["GOMEMLIMIT", "3GB", false],
	["GOMEMLIMIT", "1.5GiB", false],
	["GOMEMLIMIT", "1PiB", false],
	["ETCD_INITIAL_CLUSTER_STATE", "new", true],
	["ETCD_INITIAL_CLUSTER_STATE", "existing", true],
	["ETCD_INITIAL_CLUSTER_STATE", "exist", false],
	["ETCD_LOGGER", "zap", true],
	["ETCD_LOGGER", "capnslog", false],
	["ETCD_LOG_LEVEL", "WARN", true],
	["ETCD_LOG_LEVEL", "dpanic", true],
	["ETCD_LOG_LEVEL", "verbose", false],
	["ETCD_LISTEN_CLIENT_URLS", "http://etcd:2379", false],
	["ETCD_LISTEN_CLIENT_URLS", "http://127.0.0.1:2379,https://etcd-0.etcd.svc:2379", false],
	["ETCD_LISTEN_PEER_URLS", "http://*:2380", false],
	["ETCD_LISTEN_CLIENT_URLS", "http://10.0.0.x:2379", true],
	["ETCD_LISTEN_CLIENT_URLS", "http://host-ip:2379", true],
	["ETCD_LISTEN_CLIENT_URLS", "https://a.b.c.d:2379,http://hostname:2379,http://node1ip:2379", true],
	["ETCD_LOG_LEVEL", "%LEVEL%", true],
	["ETCD_LISTEN_CLIENT_URLS", "http://HOST:2379", true],
	["ETCD_LISTEN_PEER_URLS", "https://[fe80::a]:2380", true],
	["ETCD_ADVERTISE_CLIENT_URLS", "http://etcd:2379", true],
	["ETCD_LISTEN_CLIENT_URLS", "https://10.0.0.1:2379, http://[::1]:2379,unix:///run/etcd.sock", true],
	["ETCD_LISTEN_CLIENT_URLS", "HTTP://localhost:2379", true],
	["ETCD_LISTEN_CLIENT_URLS", "http://${IP}:2379", true],
	["ETCD_LISTEN_CLIENT_URLS", "@IP@:2379", true],
	["ETCD_LISTEN_CLIENT_URLS", "LISTEN_URL", true],
	["ETCD_LISTEN_CLIENT_URLS", "http://%H:2379", true],
	["ETCD_LISTEN_CLIENT_URLS", "http://localhost:2379,0.0.0.0:2379", false],
	["ETCD_LISTEN_CLIENT_URLS", "localhost:2379", false],
	["ETCD_LISTEN_METRICS_URLS", "tcp://10.0.0.1:2381", false],
	["ETCD_ADVERTISE_CLIENT_URLS", "http://10.0.0.1", false],
	["ETCD_LISTEN_PEER_URLS", "http://10.0.0.1:2380/", false],
	["ETCD_INITIAL_ADVERTISE_PEER_URLS", "10.0.0.1:2380", false],
	["ETCD_INITIAL_CLUSTER", "a=https://10.0.0.1:2380,b=https://10.0.0.2:2380", true],
	["ETCD_INITIAL_CLUSTER", "a=https://10.0.0.1:2380,b=10.0.0.2:2380", false],
]

test_values[note] if {
	some [variable, value, accepted] in values
	note := sprintf("%s=%s", [variable, value])
	entry := {"name": variable, "form": "env", "spelling": variable, "value": value}
	{accepted} == {false | accepted_values.refusal({"release": "3.7.3", "version": "3.7.3"}, entry)} | {true | not accepted_values.refusal({"release": "3.7.3", "version": "3.7.3"}, entry)}
}

# Until 3.4 capnslog was a logger.
test_older_logger if {
	entry := {"name": "--logger", "form": "flag", "spelling": "logger", "value": "capnslog"}
	not accepted_values.refusal({"release": "3.5.35", "version": "3.4.30"}, entry)
	not accepted_values.refusal({"release": null, "version": null}, entry)
}

# Until 3.1 etcd only warned.
test_names_to_listen_on if {
	entry := {"name": "--listen-client-urls", "form": "flag", "spelling": "listen-client-urls", "value": "http://etcd:2379"}
	not accepted_values.refusal({"release": "3.5.35", "version": "3.1.20"}, entry)
	accepted_values.refusal({"release": null, "version": null}, entry).expected == "URLs with an IP address or localhost, such as https://10.0.0.1:2379"
}

meanings := [
	["ETCD_AUTO_COMPACTION_RETENTION", "2d", "48h"],
	["GOMEMLIMIT", "3GB", "3GiB"],
	["GOMEMLIMIT", "512 m", "512MiB"],
	["GOMEMLIMIT", "1.5GiB", null],
]

test_meanings[note] if {
	some [variable, value, meant] in meanings
	note := sprintf("%s=%s", [variable, value])
	entry := {"name": variable, "form": "env", "spelling": variable, "value": value}
	object.get(accepted_values.refusal({"release": "3.7.3", "version": "3.7.3"}, entry), "meant", null) == meant
}
