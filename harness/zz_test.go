package harness
import ("testing";"io";"strings";"os";"syscall";"time";"encoding/json")
func cpu() time.Duration { var r syscall.Rusage; syscall.Getrusage(0,&r); return time.Duration(r.Utime.Nano()+r.Stime.Nano()) }
func BenchmarkZ(b *testing.B){
 src,_:=os.ReadFile("/usr/local/go/src/net/http/server.go")
 for name,s:=range map[string]string{"ascii":strings.Repeat("abcdefgh 12345 xyz",60000),"code":strings.Repeat(string(src),9)[:1<<20],"cjk":strings.Repeat("漢字かな",90000)}{
 f:=func(n string, g func()){ b.Run(name+n,func(b *testing.B){ b.SetBytes(int64(len(s))); c:=cpu(); for b.Loop(){ g() }; b.ReportMetric(float64(cpu()-c)/float64(b.N)/1e3,"cpu-us/op") })}
 e:=newEncoder(io.Discard)
 f("",func(){e.str(s); e.flush()})
 f("-copy",func(){e.raw(s); e.flush()})
 j:=json.NewEncoder(io.Discard); j.SetEscapeHTML(false)
 f("-json",func(){j.Encode(s)})
 }
}
