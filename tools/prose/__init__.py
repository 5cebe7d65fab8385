"""The check of the project's English: extract the prose from each tracked file, and let Vale judge it by the rules in .vale."""
