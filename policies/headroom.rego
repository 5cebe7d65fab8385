# METADATA
# title: All rules
# description: |
#   The namespace that `conftest test inventory` queries. One query for all denials and one for all warnings resolve the inventory twice;
#   `--namespace 'headroom.rules.*'` resolves it for each rule.
package headroom

deny contains finding if some finding in data.headroom.rules[_][_].deny

warn contains finding if some finding in data.headroom.rules[_][_].warn

warn contains finding if some finding in data.headroom.waived.warn
