import csv,gzip,os,subprocess,json,sys
base="/work/shared/goldens/compile"; B="/tmp/w/ind3/tm5"
def ev(t):
    return [(r["action"],r["address"],r["bytes"],r["stream"]) for r in csv.DictReader(t.splitlines()) if r["action"]!="snapshot"]
for l in open(base+"/list.txt"):
    if l.startswith("#") or not l.strip(): continue
    n,rest=l.strip().split(": "); w=rest.split(); a=[x for x in w[1:]]; a=a[a.index("--")+1:] if "--" in a else []
    e="/tmp/t/cg.csv"
    if os.path.exists(e): os.remove(e)
    p=subprocess.run([B,"run",base+"/"+w[0],"--compile","model","--device","h100-sxm-80gb","--set","pytorch=2.11","--set","backends.cudnn_sdp=false","--events",e,"--format","json"]+(["--"]+a if a else []),capture_output=True,text=True)
    want=ev(gzip.open(f"{base}/{n}/events.csv.gz","rt").read())
    f=json.load(open(f"{base}/{n}/facts.json"))
    if p.returncode or not os.path.exists(e): print(n,"REFUSED",p.stderr.strip().splitlines()[:1]); continue
    got=ev(open(e).read()); d=json.loads(p.stdout)["devices"][0]
    i=next((i for i,(a,b) in enumerate(zip(want,got)) if a!=b),min(len(want),len(got)))
    print(n,len(want),len(got),want==got,"first",i, {k:v for k,v in f.items() if "peak" in k or "reserved" in k or "allocated" in k} , d.get("peak_allocated_bytes") or d.get("peaks"))
