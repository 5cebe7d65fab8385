# METADATA
# title: All rules
# description: |
#   What `conftest test inventory` asks: every rule below rules/, in one query each for denials and warnings, so that the inventory is
#   resolved twice and not once for every rule. `--namespace 'headroom.rules.*'` asks each rule by itself.
package headroom

deny contains finding if some finding in data.headroom.rules[_][_].deny

warn contains finding if some finding in data.headroom.rules[_][_].warn

warn contains finding if some finding in data.headroom.waived.warn
