package headroom_test.memory.client_share

import data.headroom.rules.memory.client_share as rule

# The rule asks the model only above this many clients, which is right as long as no client takes more memory than this.
test_each_takes_less if {
	every constants in data.headroom.model.constants {
		every part in ["connection", "connection_tls", "watch_stream", "watcher"] { constants[part] < rule.each }
	}
}
