package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Server is a tallyd of this program's own, on a loopback port that was free.
type Server struct {
	Address   string
	process   *exec.Cmd
	directory string
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// StartServer starts it with an append-only file in a new directory.
func StartServer(binary string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "quota_service")
	if err != nil {
		return nil, err
	}
	server := &Server{Address: fmt.Sprintf("127.0.0.1:%d", port), directory: directory}
	return server, server.start(binary, port)
}

func (s *Server) start(binary string, port int) error {
	s.process = exec.Command(binary, "--port", fmt.Sprint(port), "--bind", "127.0.0.1",
		"--dir", s.directory, "--appendonly", "yes", "--appendfsync", "always")
	s.process.Stdout = os.Stderr
	s.process.Stderr = os.Stderr
	// It ends with this program, however that ends. The signal follows the starting thread.
	runtime.LockOSThread()
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		connection, err := redis.Dial("tcp", s.Address)
		if err == nil {
			defer connection.Close()
			if _, err = connection.Do("PING"); err == nil {
				return nil
			}
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

// NewPool gives connections to it.
func (s *Server) NewPool() *redis.Pool {
	return &redis.Pool{
		MaxIdle: 64,
		Dial:    func() (redis.Conn, error) { return redis.Dial("tcp", s.Address) },
	}
}

// Crash kills the server and starts it again from its files.
func (s *Server) Crash() error {
	s.process.Process.Kill()
	s.process.Wait()
	port := 0
	fmt.Sscanf(s.Address, "127.0.0.1:%d", &port)
	return s.start(s.process.Path, port)
}

// Stop ends the server and removes its files.
func (s *Server) Stop() {
	s.process.Process.Kill()
	s.process.Wait()
	os.RemoveAll(s.directory)
}
