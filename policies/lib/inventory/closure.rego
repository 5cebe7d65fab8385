# METADATA
# title: All groups above a group
# description: |
#   graph.reachable() takes time without bound where there are several ways to one node, because it puts a node on its list once for each
#   way to it: 40 groups in a ladder keep it busy for hours.
package headroom.inventory.closure

# parents: node → its parents, which are nodes too. Node → all nodes above it and itself.
above(parents) := {node: graph.reachable(parents, {node}) | some node, _ in parents} if {
	every stated in parents { count(stated) < 2 }
} else := _further(_further(_further(_further(_further(_further(_further(_further(_further(_further(nearest)))))))))).above if {
	nearest := {"above": {node: near | some node, stated in parents; near := stated | {node}}, "complete": false}
}

# From what is above up to some distance to what is above up to twice that distance. Ten times are as far as Ansible itself gets.
_further(known) := known if {
	known.complete
} else := {"above": further, "complete": further == known.above} if {
	further := {node: union({known.above[each] | some each in near}) | some node, near in known.above}
}
