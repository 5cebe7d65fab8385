package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/health" // without it a client cannot ask for health
)

// The service config by which a client asks for health; the resolver's own, without it, has to be turned off.
const askForHealth = `{"loadBalancingPolicy": "round_robin", "healthCheckConfig": {"serviceName": ""}}`

// settle is how long watchers may lag behind at the end.
const settle = 15 * time.Second

// group is one kind of client with all that it does.
type group struct {
	options
	name    string
	began   time.Time
	clients []*clientv3.Client
	samples samples
	leases  []*lease
	watched []*watcher
	running sync.WaitGroup
	cancel  context.CancelFunc
}

// summary is the result of a group; the pause is in seconds.
type summary struct {
	Leases        int     `json:"leases"`
	LeasesLost    int     `json:"leases_lost"`
	RenewalPause  float64 `json:"longest_renewal_pause"`
	WatchEvents   int     `json:"watch_events"`
	WatchMissed   int     `json:"watch_missed"`
	WatchesClosed int     `json:"watches_closed"`
}

func newGroup(name string, o options, began time.Time) (*group, error) {
	g := &group{options: o, name: name, began: began}
	config := clientv3.Config{Endpoints: o.endpoints, DialTimeout: 10 * time.Second, Logger: zap.NewNop()}
	if name == "health" {
		config.DialOptions = []grpc.DialOption{grpc.WithDisableServiceConfig(), grpc.WithDefaultServiceConfig(askForHealth)}
	}
	for range o.clientsPerGroup {
		client, err := clientv3.New(config)
		if err != nil {
			g.close()
			return nil, err
		}
		g.clients = append(g.clients, client)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g.cancel = cancel
	answer, err := g.clients[0].Get(ctx, g.prefix(), clientv3.WithCountOnly(), clientv3.WithPrefix())
	if err != nil {
		g.close()
		return nil, err
	}
	if answer.Count > 0 {
		g.close()
		return nil, fmt.Errorf("there are keys below %s: the puts would not be the first of their keys", g.prefix())
	}
	for n := range o.watchersPerGroup {
		g.watched = append(g.watched, watch(ctx, g, g.clients[n%len(g.clients)], answer.Header.Revision+1))
	}
	for n := range o.leasesPerGroup {
		held, err := grant(ctx, g.clients[n%len(g.clients)], o.ttl, fmt.Sprintf("/load/%s/lease/%04d", name, n))
		if err != nil {
			g.close()
			return nil, err
		}
		g.leases = append(g.leases, held)
	}
	return g, nil
}

func (g *group) close() {
	if g.cancel != nil {
		g.cancel()
	}
	for _, client := range g.clients {
		client.Close()
	}
}

func (g *group) prefix() string {
	return fmt.Sprintf("/load/%s/put/", g.name)
}

// since says how many microseconds after the load's begin a moment is.
func (g *group) since(moment time.Time) int64 {
	return moment.Sub(g.began).Microseconds()
}

// start sends requests at the rate until the context ends.
func (g *group) start(ctx context.Context) {
	g.pace(ctx, "put", g.put)
	g.pace(ctx, "range", g.read)
}

// pace makes a request each time that one is due, and does not wait for it.
func (g *group) pace(ctx context.Context, kind string, request func(context.Context, int, time.Time) error) {
	g.running.Add(1)
	go func() {
		defer g.running.Done()
		interval := time.Second / time.Duration(g.rate)
		first := time.Now()
		for n := 0; ; n++ {
			due := first.Add(time.Duration(n) * interval)
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Until(due)):
			}
			g.running.Add(1)
			go func() {
				defer g.running.Done()
				limited, done := context.WithDeadline(context.Background(), due.Add(g.timeout))
				defer done()
				err := request(limited, n, due)
				g.samples.add(kind, g.since(due), time.Since(due).Microseconds(), err)
			}()
		}
	}()
}

func (g *group) put(ctx context.Context, n int, due time.Time) error {
	value := make([]byte, g.valueSize)
	binary.BigEndian.PutUint64(value, uint64(due.UnixMicro()))
	_, err := g.clients[n%len(g.clients)].Put(ctx, fmt.Sprintf("%s%04d", g.prefix(), n%g.keys), string(value))
	return err
}

func (g *group) read(ctx context.Context, n int, _ time.Time) error {
	from := fmt.Sprintf("%s%08d", g.live, rand.Intn(g.liveKeys))
	_, err := g.clients[n%len(g.clients)].Get(ctx, from, clientv3.WithFromKey(), clientv3.WithLimit(g.limit))
	return err
}

// finish waits for what is under way, then counts what was lost.
func (g *group) finish() (summary, error) {
	g.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 2*settle)
	defer cancel()
	found := summary{Leases: len(g.leases)}
	for _, held := range g.leases {
		lost, err := held.lost(ctx)
		if err != nil {
			return found, err
		}
		if lost {
			found.LeasesLost++
		}
		found.RenewalPause = max(found.RenewalPause, held.pause().Seconds())
	}
	answer, err := g.clients[0].Get(ctx, g.prefix(), clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		return found, err
	}
	versions := map[string]int64{}
	for _, kv := range answer.Kvs {
		versions[string(kv.Key)] = kv.Version
	}
	deadline := time.Now().Add(settle)
	for _, w := range g.watched {
		for w.missed(versions) > 0 && time.Now().Before(deadline) {
			time.Sleep(50 * time.Millisecond)
		}
		found.WatchMissed += w.missed(versions)
		events, closed := w.seen()
		found.WatchEvents += events
		if closed {
			found.WatchesClosed++
		}
	}
	return found, nil
}
