// Load drives an etcd cluster through all endpoints with etcd's own Go client, and reports the latencies and errors of its clients.
//
// Two groups of clients do the same at the same time. Those of group "plain" are made as the client's documentation shows: requests go to the
// endpoints in turn, whatever state a member is in. Those of group "health" also ask each member's gRPC health service, as etcd's own test of
// a defragmentation does, and pass over one that does not serve.
//
// Puts and ranges are due at a steady rate and are sent when they are due, however long earlier ones take, so that a stall is not hidden by
// requests that wait for it. Leases are kept alive, with a key each; watchers follow every put of their group. It says `ready`, and runs until
// its standard input is closed. Samples go to a CSV file (time and latency in microseconds), a summary as JSON to the standard output.
//
// With --fill N it does something else: it writes the keys that ranges read, and N others that it deletes again.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

type options struct {
	endpoints        []string
	clientsPerGroup  int
	rate             int
	valueSize        int
	leasesPerGroup   int
	ttl              int64
	watchersPerGroup int
	keys             int
	live             string
	liveKeys         int
	limit            int64
	timeout          time.Duration
	samplesFile      string
	deletedKeys      int
}

func parseOptions() options {
	var o options
	endpoints := flag.String("endpoints", "", "client URLs of all members, separated by commas")
	flag.IntVar(&o.clientsPerGroup, "clients", 4, "clients of each group, with connections of their own")
	flag.IntVar(&o.rate, "rate", 100, "puts and as many ranges per second, of each group")
	flag.IntVar(&o.valueSize, "value-size", 1024, "bytes of a put's value")
	flag.IntVar(&o.leasesPerGroup, "leases", 100, "leases that each group keeps alive")
	flag.Int64Var(&o.ttl, "ttl", 15, "seconds that a lease lives without being kept alive; as long as those of Kubernetes API servers")
	flag.IntVar(&o.watchersPerGroup, "watchers", 2, "watchers of each group; each follows all puts of the group")
	flag.IntVar(&o.keys, "keys", 500, "keys that each group puts in turn")
	flag.StringVar(&o.live, "live", "/live/", "prefix of the keys that ranges read: PREFIX and eight digits")
	flag.IntVar(&o.liveKeys, "live-keys", 1, "how many of these keys there are")
	flag.Int64Var(&o.limit, "limit", 5, "keys that a range reads")
	flag.DurationVar(&o.timeout, "timeout", 5*time.Second, "after which a request has failed; etcdctl's default")
	flag.StringVar(&o.samplesFile, "samples", "", "the file for the samples")
	flag.IntVar(&o.deletedKeys, "fill", 0, "write the live keys and this many keys that are deleted again, and do nothing else")
	flag.Parse()
	o.endpoints = strings.Split(*endpoints, ",")
	if *endpoints == "" || (o.samplesFile == "") != (o.deletedKeys > 0) || o.liveKeys < 1 || o.clientsPerGroup < 1 || o.rate < 1 || o.keys < 1 || o.valueSize < 8 {
		flag.Usage()
		os.Exit(2)
	}
	return o
}

func run(o options) error {
	file, err := os.Create(o.samplesFile)
	if err != nil {
		return err
	}
	defer file.Close()
	var groups []*group
	defer func() {
		for _, g := range groups {
			g.close()
		}
	}()
	began := time.Now()
	for _, name := range []string{"plain", "health"} {
		g, err := newGroup(name, o, began)
		if err != nil {
			return fmt.Errorf("group %s: %w", name, err)
		}
		groups = append(groups, g)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for _, g := range groups {
		g.start(ctx)
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	stop()
	summary := map[string]any{"began": float64(began.UnixMicro()) / 1e6}
	out := bufio.NewWriter(file)
	fmt.Fprintln(out, "group,kind,at,latency,error")
	for _, g := range groups {
		if summary[g.name], err = g.finish(); err != nil {
			return fmt.Errorf("group %s: %w", g.name, err)
		}
		if err := g.samples.write(out, g.name); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(summary)
}

func main() {
	o := parseOptions()
	do := run
	if o.deletedKeys > 0 {
		do = fill
	}
	if err := do(o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
