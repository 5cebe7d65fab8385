package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	putsInOne = 64 // puts of a transaction; etcd allows 128
	writers   = 8
)

// fill writes keys, deletes some of them evenly over the whole database, and compacts: what the deleted ones
// took becomes free pages.
func fill(o options) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: o.endpoints, DialTimeout: 10 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	total := o.liveKeys + o.deletedKeys
	value := strings.Repeat("x", o.valueSize)
	var waiting sync.WaitGroup
	failures := make(chan error, writers)
	for writer := range writers {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			for first := writer * putsInOne; first < total; first += writers * putsInOne {
				var puts []clientv3.Op
				for n := first; n < min(first+putsInOne, total); n++ {
					puts = append(puts, clientv3.OpPut(name(o, n, total), value))
				}
				if err := within(func(ctx context.Context) error {
					_, err := client.Txn(ctx).Then(puts...).Commit()
					return err
				}); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	waiting.Wait()
	close(failures)
	for err := range failures {
		return err
	}
	return clear(client, o.deletedKeys)
}

// name is that of the nth key written: those that stay are spread evenly among all.
func name(o options, n, total int) string {
	before, after := n*o.liveKeys/total, (n+1)*o.liveKeys/total
	if after > before {
		return fmt.Sprintf("%s%08d", o.live, before)
	}
	return fmt.Sprintf("/gone/%08d", n-before)
}

// clear deletes the keys that are to go, a thousand at a time, and waits until their pages are free.
func clear(client *clientv3.Client, keys int) error {
	var revision int64
	for first := 0; first < keys; first += 1000 {
		if err := within(func(ctx context.Context) error {
			end := fmt.Sprintf("/gone/%08d", first+1000)
			answer, err := client.Delete(ctx, fmt.Sprintf("/gone/%08d", first), clientv3.WithRange(end))
			if err == nil {
				revision = answer.Header.Revision
			}
			return err
		}); err != nil {
			return err
		}
	}
	return within(func(ctx context.Context) error {
		_, err := client.Compact(ctx, revision, clientv3.WithCompactPhysical())
		return err
	})
}

func within(request func(context.Context) error) error {
	ctx, done := context.WithTimeout(context.Background(), 3*time.Minute)
	defer done()
	return request(ctx)
}
