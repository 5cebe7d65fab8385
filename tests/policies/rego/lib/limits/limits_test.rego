package headroom_test.limits

import data.headroom.limits

test_defaults if limits.threshold.large_value_bytes == 102400

test_own if {
	found := limits.threshold with data.headroom.thresholds as {"large_value_bytes": 1}
	found.large_value_bytes == 1
	found.raft_log_share_permille == 250
}
