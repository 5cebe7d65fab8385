package main

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// lease is one that the client keeps alive, with the key that hangs on it.
type lease struct {
	client *clientv3.Client
	id     clientv3.LeaseID
	key    string

	mutex   sync.Mutex
	renewed time.Time
	longest time.Duration
	ended   bool
}

func grant(ctx context.Context, client *clientv3.Client, ttl int64, key string) (*lease, error) {
	limited, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	granted, err := client.Grant(limited, ttl)
	if err != nil {
		return nil, err
	}
	if _, err := client.Put(limited, key, "", clientv3.WithLease(granted.ID)); err != nil {
		return nil, err
	}
	answers, err := client.KeepAlive(ctx, granted.ID)
	if err != nil {
		return nil, err
	}
	held := &lease{client: client, id: granted.ID, key: key, renewed: time.Now()}
	go held.follow(ctx, answers)
	return held, nil
}

// follow reads the answers of the renewals; the client closes the channel when it gives the lease up.
func (l *lease) follow(ctx context.Context, answers <-chan *clientv3.LeaseKeepAliveResponse) {
	for range answers {
		l.mutex.Lock()
		now := time.Now()
		l.longest = max(l.longest, now.Sub(l.renewed))
		l.renewed = now
		l.mutex.Unlock()
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.ended = ctx.Err() == nil
}

// pause is the longest time between two renewals.
func (l *lease) pause() time.Duration {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return max(l.longest, time.Since(l.renewed))
}

// lost says whether the client gave the lease up, or its key is gone.
func (l *lease) lost(ctx context.Context) (bool, error) {
	l.mutex.Lock()
	ended := l.ended
	l.mutex.Unlock()
	if ended {
		return true, nil
	}
	answer, err := l.client.Get(ctx, l.key, clientv3.WithKeysOnly())
	if err != nil {
		return false, err
	}
	return len(answer.Kvs) == 0 || clientv3.LeaseID(answer.Kvs[0].Lease) != l.id, nil
}

// watcher follows all puts of its group and counts them, key by key.
type watcher struct {
	mutex  sync.Mutex
	counts map[string]int64
	events int
	closed bool
}

// watch follows the group's puts from the revision on.
func watch(ctx context.Context, g *group, client *clientv3.Client, revision int64) *watcher {
	w := &watcher{counts: map[string]int64{}}
	channel := client.Watch(ctx, g.prefix(), clientv3.WithPrefix(), clientv3.WithRev(revision))
	go func() {
		for answer := range channel {
			w.take(g, answer)
		}
		w.mutex.Lock()
		defer w.mutex.Unlock()
		w.closed = w.closed || ctx.Err() == nil
	}()
	return w
}

// take counts a put only where it is the next of its key, so that neither a gap nor a repetition passes for a put that was seen.
func (w *watcher) take(g *group, answer clientv3.WatchResponse) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if answer.Err() != nil {
		w.closed = true
		return
	}
	now := time.Now()
	for _, event := range answer.Events {
		key := string(event.Kv.Key)
		if event.Kv.Version != w.counts[key]+1 {
			continue
		}
		w.counts[key]++
		w.events++
		due := time.UnixMicro(int64(binary.BigEndian.Uint64(event.Kv.Value)))
		g.samples.add("watch", g.since(due), now.Sub(due).Microseconds(), nil)
	}
}

// missed is how many puts of these keys the watcher has not seen.
func (w *watcher) missed(versions map[string]int64) int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	missed := 0
	for key, version := range versions {
		missed += int(version - w.counts[key])
	}
	return missed
}

func (w *watcher) seen() (int, bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.events, w.closed
}
