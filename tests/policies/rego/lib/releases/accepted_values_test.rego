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
	["GOMEMLIMIT", "3GiB", true],
	["GOMEMLIMIT", "3221225472", true],
	["GOMEMLIMIT", "10B", true],
	["GOMEMLIMIT", "off", true],
	["GOMEMLIMIT", "3GB", false],
	["GOMEMLIMIT", "1.5GiB", false],
	["GOMEMLIMIT", "1PiB", false],
]

test_values[note] if {
	some [variable, value, accepted] in values
	note := sprintf("%s=%s", [variable, value])
	entry := {"name": variable, "form": "env", "spelling": variable, "value": value}
	{accepted} == {false | accepted_values.refusal({"release": "3.7.3", "version": "3.7.3"}, entry)} | {true | not accepted_values.refusal({"release": "3.7.3", "version": "3.7.3"}, entry)}
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
