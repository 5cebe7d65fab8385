package headroom_test.thresholds

import data.headroom.effective_thresholds

test_defaults if effective_thresholds.threshold.large_value_bytes == 102400

test_own if {
	found := effective_thresholds.threshold with data.headroom.thresholds as {"large_value_bytes": 1}
	found.large_value_bytes == 1
	found.raft_log_share_permille == 250
}
