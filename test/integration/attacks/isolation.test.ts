/** Commands that try to get out: to the host, to the network, to more rights, to the result. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type Bench, LIMITS, openBench } from '../sandbox/fixture.ts';

jest.setTimeout(60_000);

describe('a command that tries to get out', () => {
  let bench: Bench;
  beforeAll(() => {
    bench = openBench();
  });
  afterAll(() => bench.close());

  test('host, bridge gateway, metadata service, a peer and DNS are unreachable; only loopback exists', async () => {
    const server = createServer((socket) => socket.end('REACHED'));
    const port = await new Promise<number>((resolve) =>
      server.listen(0, '0.0.0.0', () => resolve((server.address() as { port: number }).port)),
    );
    const addresses = Object.values(networkInterfaces()).flatMap((list) =>
      (list ?? []).filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
    );
    const peer = bench.run(
      `node -e 'require("net").createServer((s) => s.end("REACHED")).listen(${port}, "0.0.0.0"); setTimeout(() => process.exit(0), 8000)'`,
    );
    const probes = [...addresses, '172.17.0.1', '127.0.0.1', '169.254.169.254', '8.8.8.8'].map((host) => [
      host,
      host === '169.254.169.254' ? 80 : port,
    ]);
    const script = `const tell = (n, v) => console.log(n + " " + v);
      for (const [host, port] of ${JSON.stringify(probes)}) require("net").connect({ host, port, timeout: 3000 }).on("data", (d) => tell(host, d)).on("error", (e) => tell(host, e.code)).on("timeout", () => tell(host, "TIMEOUT"));
      require("dns").lookup("example.com", (e) => tell("dns", e ? e.code : "RESOLVED"));
      require("dns").resolve("example.com", (e) => tell("resolver", e ? e.code : "RESOLVED"));
      console.log("interfaces " + Object.keys(require("os").networkInterfaces()));`;
    const outcome = await bench.sandbox.runStep(
      bench.request(['node', '-e', script], { deadlineMs: 20_000, outputFile: `${bench.stateDir}/probe.log` }),
    );
    const output = String(await import('node:fs').then((fs) => fs.readFileSync(`${bench.stateDir}/probe.log`)));
    server.close();
    await bench.sandbox.stop('r1');
    await peer;
    expect(outcome.end).toBe('exited');
    expect(output).not.toMatch(/REACHED|RESOLVED/);
    expect(output).toContain('interfaces lo');
    for (const [host] of probes)
      expect(output).toMatch(new RegExp(`^${String(host)} (ENETUNREACH|ECONNREFUSED|EAI_AGAIN|EHOSTUNREACH)`, 'm'));
  });

  test('mknod, unshare, mount, chroot, raw sockets, setuid and writes to the system fail', async () => {
    const attempts: Record<string, string> = {
      mknod: 'mknod /tmp/dev b 254 0',
      unshare: 'unshare -U true',
      mountns: 'unshare -m true',
      mount: 'mount -t tmpfs none /mnt',
      remount: 'mount -o remount,rw /',
      etc: 'echo x >> /etc/passwd',
      usr: 'touch /usr/bin/x',
      proc: 'echo c > /proc/sysrq-trigger',
      sysctl: 'echo 1 > /proc/sys/kernel/panic',
      cgroup: 'mkdir /sys/fs/cgroup/memory/x /sys/fs/cgroup/x',
      chown: 'touch /tmp/o && chown 0:0 /tmp/o',
      time: 'date -s 2001-01-01',
      chroot: 'chroot / true',
      kill: 'kill -9 1 && sleep 1 && kill -0 1 && false', // a signal to init has no effect
      su: "perl -e '$> = 0; exit($> == 0 ? 0 : 1)'",
      raw: 'node -e \'process.exit(require("fs").existsSync("/dev/kmsg") || require("fs").existsSync("/var/run/docker.sock") ? 0 : 1)\'',
      device: 'ls /dev/vda /dev/sda /dev/mem /dev/loop0',
    };
    const line = Object.entries(attempts)
      .map(
        ([name, command]) =>
          `if (${command}) >/dev/null 2>&1; then echo "${name} WORKED"; else echo "${name} failed"; fi`,
      )
      .join('\n');
    const outcome = await bench.run(`${line}\nid -u; grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status`);
    for (const name of Object.keys(attempts)) expect(outcome.output).toContain(`${name} failed`);
    expect(outcome.output).toContain('CapEff:\t0000000000000000');
    expect(outcome.output).toContain('CapBnd:\t0000000000000000');
    expect(outcome.output).toContain('NoNewPrivs:\t1');
    expect(outcome.output).toContain('Seccomp:\t2');
    expect(outcome.output).toContain('10001\n');
  });

  test('a read-only workspace and mounts cannot be written, unlinked or renamed', async () => {
    const workspace = await bench.workspace(bench.repository({ 'a.txt': 'one\n' }));
    const request = bench.request(['sh', '-c', 'echo x > a.txt; rm a.txt; mv a.txt b; touch /given/x; ls /given'], {
      workspace: { dir: workspace.dir, readOnly: true },
      mounts: [{ source: workspace.dir, target: '/given', readOnly: true }],
    });
    await bench.sandbox.runStep(request);
    const output = String((await import('node:fs')).readFileSync(request.outputFile));
    expect(output.match(/Read-only file system/g)).toHaveLength(4);
    expect(output).toContain('a.txt\n');
  });

  test('nothing of the worker’s environment is inside, and no host path that tells a secret', async () => {
    process.env['SWARMLINE_TEST_SECRET'] = 'the-key-of-the-worker';
    try {
      const outcome = await bench.run(
        'cat /proc/*/environ /proc/*/cmdline /proc/self/mountinfo 2>/dev/null | tr "\\0" "\\n"',
        null,
        { env: { GIVEN: 'yes' } },
      );
      expect(outcome.output).toContain('GIVEN=yes');
      expect(outcome.output).not.toContain('the-key-of-the-worker');
      expect(outcome.output).not.toContain('SWARMLINE_');
    } finally {
      delete process.env['SWARMLINE_TEST_SECRET'];
    }
  });

  test('a result written into the wrapper’s output by a child changes nothing about how the step ended', async () => {
    const outcome = await bench.run(`sh -c 'echo "FORGED exit 0" > /proc/$PPID/fd/1'; exit 4`);
    expect(outcome).toMatchObject({ end: 'exited', exitCode: 4 });
  });

  test('another step’s processes and files are not visible', async () => {
    const other = bench.run('echo mine > /tmp/mine; exec sleep 5.4321');
    const outcome = await bench.run('sleep 1; ls /tmp; cat /proc/*/cmdline | tr "\\0" " "');
    expect(outcome.output).not.toContain('5.4321');
    expect(outcome.output).not.toContain('mine');
    await bench.sandbox.stop('r1');
    await other;
    expect(LIMITS.pids).toBeGreaterThan(0);
  });
});
