# METADATA
# title: A container's data is in a volume
# description: |
#   What a container writes outside its volumes is removed with it: a new image, a change of its settings or a move to another
#   node leaves a member without its data, and a cluster of such members without any. The rule judges services of Compose and Kubernetes'
#   containers with etcd's own images, which declare no volumes.
# custom:
#   id: disk/no_volume
#   severity: warn
#   fix: Mount a persistent volume at data-dir, and at wal-dir if it is set
#   source: https://docs.docker.com/engine/storage/; https://kubernetes.io/docs/concepts/storage/volumes/
package headroom.rules.disk.no_volume

import data.headroom.clusters
import data.headroom.files
import data.headroom.result
import data.headroom.settings.given

warn contains finding if some finding in result.findings("disk/no_volume", problems)

problems contains result.problem(host_profile, host_profile.names[fact], text) if {
	some host_profile in clusters.host_profiles
	some fact in ["data_dir_in_layer", "wal_dir_in_layer"]
	path := host_profile.facts[fact]
	not given.is_merged(host_profile.inventory)
	not files.is_template(host_profile.inventory)
	text := sprintf("%s is %s, where no volume is mounted, so etcd loses it with the container", [host_profile.names[fact], path])
}
