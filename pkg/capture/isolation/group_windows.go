package isolation

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A job is what ends all descendants of the children together: a job object, which no process can leave. It also ends them
// when this process dies, since its handle is closed then.
type job struct{ handle windows.Handle }

func newJob() (*job, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("making a job object: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("limiting a job object: %w", err), windows.CloseHandle(handle))
	}
	return &job{handle}, nil
}

// groupAttr starts the child suspended: it must be in the job before it can start anything. Only the three handles that it is
// given are inherited.
func groupAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
}

// add takes a suspended child into the job and lets it run.
func (j *job) add(p *os.Process) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid))
	if err != nil {
		return fmt.Errorf("opening the child: %w", err)
	}
	defer windows.CloseHandle(process) //nolint:errcheck // a handle of ours
	if err := windows.AssignProcessToJobObject(j.handle, process); err != nil {
		return fmt.Errorf("taking the child into the job object: %w", err)
	}
	return resume(uint32(p.Pid))
}

// resume lets the threads of a suspended process run.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("listing threads: %w", err)
	}
	defer windows.CloseHandle(snapshot) //nolint:errcheck // a handle of ours
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("opening the child's thread: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		if err = errors.Join(err, windows.CloseHandle(thread)); err != nil {
			return fmt.Errorf("starting the child's thread: %w", err)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return fmt.Errorf("listing threads: %w", err)
	}
	return nil
}

// kill ends every process of the job.
func (j *job) kill([]*os.Process) {
	_ = windows.TerminateJobObject(j.handle, 1) // it fails only when the job is closed
}

func (j *job) close() error { return windows.CloseHandle(j.handle) }

func exitOf(state *os.ProcessState) Exit { return Exit{Code: state.ExitCode()} }
