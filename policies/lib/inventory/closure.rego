# METADATA
# title: Transitive closure of the group graph
# description: |
#   Replaces graph.reachable(), which enqueues a node once for each path to it: a ladder of 40 groups keeps it busy for hours.
package headroom.inventory.closure

# parents: node → its parents, which are nodes themselves. Returns node → itself and all its ancestors.
ancestors(parents) := {node: graph.reachable(parents, {node}) | some node, _ in parents} if {
	every of_node in parents { count(of_node) < 2 }
} else := _double(_double(_double(_double(_double(_double(_double(_double(_double(_double(nearest)))))))))).ancestors if {
	nearest := {"ancestors": {node: near | some node, of_node in parents; near := of_node | {node}}, "complete": false}
}

# Doubles the distance up to which ancestors are known. Ten times exceed the depth at which Ansible itself fails.
_double(known) := known if {
	known.complete
} else := {"ancestors": further, "complete": further == known.ancestors} if {
	further := {node: union({known.ancestors[each] | some each in near}) | some node, near in known.ancestors}
}
