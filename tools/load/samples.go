package main

import (
	"encoding/csv"
	"io"
	"strconv"
	"sync"

	"google.golang.org/grpc/status"
)

// sample is one request or watch event: when it was due and how long it took, in microseconds, and how it failed.
type sample struct {
	kind        string
	at, latency int64
	failure     string
}

type samples struct {
	mutex sync.Mutex
	taken []sample
}

func (s *samples) add(kind string, at, latency int64, err error) {
	failure := ""
	if err != nil {
		failure = status.Convert(err).Message()
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.taken = append(s.taken, sample{kind, at, latency, failure})
}

func (s *samples) write(out io.Writer, group string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	rows := csv.NewWriter(out)
	for _, one := range s.taken {
		if err := rows.Write([]string{group, one.kind, strconv.FormatInt(one.at, 10), strconv.FormatInt(one.latency, 10), one.failure}); err != nil {
			return err
		}
	}
	rows.Flush()
	return rows.Error()
}
