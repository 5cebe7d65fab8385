package headroom_test.settings

import data.headroom.settings

# An empty path, as a chart states it, is none.
test_no_file if {
	settings.has_no_file({"names": {}, "unknown": set()}, "cert_file")
	settings.has_no_file({"names": {"cert_file": "CERT"}, "settings": {"cert_file": ""}, "unknown": {"extra_config"}}, "cert_file")
	not settings.has_no_file({"names": {"cert_file": "CERT"}, "settings": {"cert_file": "/a"}, "unknown": set()}, "cert_file")
}
