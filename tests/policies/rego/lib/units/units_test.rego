package headroom_test.units

import data.headroom.units

test_sizes[text] if {
	some text, size in {
		"0": 0,
		"100KB": 102400,
		"100 KiB": 102400,
		"100k": 102400,
		"1.5MB": 1572864,
		"0.0001KB": 0,
		"1.05KB": 1075,
		"2GB": 2147483648,
	}
	units.parse_size(text) == size
}

test_no_sizes[text] if {
	some text in {"", "KB", "-1", "1,5MB", "1e3", "01", "ten", true, null, -1, 1.5}
	not units.parse_size(text)
}

test_counts if {
	units.parse_count("-12") == -12
	units.parse_count(12) == 12
	units.format_count(units.parse_count(12000.0)) == "12,000"
	units.format_size(units.parse_size(2048.0)) == "2.0 KiB"
	not units.parse_count("1.5")
}

test_durations[text] if {
	some text, nanoseconds in {"5m": 300000000000, "1h30m": 5400000000000, "0.5s": 500000000, "007ns": 7}
	units.parse_duration(text) == nanoseconds
}

test_formats if {
	units.format_size(1023) == "1023 B"
	units.format_size(102494) == "100.1 KiB"
	units.format_size(1152921504606846976) == "1024.0 PiB"
	units.format_sizes_distinctly(1572864, 2097152) == ["1.5 MiB", "2.0 MiB"]
	units.format_sizes_distinctly(102400, 102401) == ["102,400 bytes", "102,401 bytes"]
	units.format_sizes_distinctly(102400, 102400) == ["100.0 KiB", "100.0 KiB"]
	units.format_count(999) == "999"
	units.format_count(1234567) == "1,234,567"
}
