import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { MissingError } from '../../../../cli/exit.ts';
import { isDebianLike } from '../../../../cli/setup/apt.ts';
import { askConsent } from '../../../../cli/setup/consent.ts';
import { CommandFailed, run } from '../../../../cli/setup/exec.ts';
import { chooseToolchain, parseGoVersion } from '../../../../cli/setup/go.ts';
import { digestOf, imageInputs } from '../../../../cli/setup/image-inputs.ts';
import { freePorts, listeningInodes, portFree, portHolder, requirePort } from '../../../../cli/setup/ports.ts';
import { parseTemporalVersion } from '../../../../cli/setup/temporal.ts';

describe('versions of what is on the machine', () => {
  test('the Temporal CLI, released and built from source', () => {
    expect(parseTemporalVersion('temporal version 1.4.1 (Server 1.28.0, UI 2.39.0)')).toEqual([1, 4, 1]);
    expect(parseTemporalVersion('temporal version 0.0.0-DEV (Server 1.28.0, UI 2.39.0)')).toEqual([1, 4, 1]);
    expect(parseTemporalVersion('bash: temporal: something else')).toBeNull();
  });

  test('an old Go fetches the toolchain as a module, a newer one switches, a new one is used', () => {
    const need = [1, 24, 4] as const;
    const choose = (text: string): string => chooseToolchain(parseGoVersion(text)!, need);
    expect(choose('go version go1.19.8 linux/amd64')).toBe('bootstrap');
    expect(choose('go version go1.21 linux/amd64')).toBe('switch');
    expect(choose('go version go1.24.3 linux/amd64')).toBe('switch');
    expect(choose('go version go1.24.4 linux/amd64')).toBe('as-is');
    expect(choose('go version go1.26.8 linux/amd64')).toBe('as-is');
    expect(parseGoVersion('devel')).toBeNull();
  });

  test('Debian and what is like it', () => {
    expect(isDebianLike('NAME="x"\nID=debian\n')).toBe(true);
    expect(isDebianLike('ID=linuxmint\nID_LIKE="ubuntu debian"\n')).toBe(true);
    expect(isDebianLike('ID=fedora\nNAME="not debian"\n')).toBe(false);
  });
});

describe('leave to change the machine', () => {
  test('without a terminal and without --yes the exact commands are given back', async () => {
    const offer = { what: 'There is no engine.', commands: ['apt-get install docker.io', 'dockerd &'] };
    await expect(askConsent(offer, false)).rejects.toThrow(MissingError);
    await expect(askConsent(offer, false)).rejects.toThrow(/type: apt-get install docker.io\n {8}dockerd &/);
    await expect(askConsent(offer, true)).resolves.toBeUndefined();
  });
});

describe('other programs', () => {
  test('a failure carries what was run, its exit code and the end of its output', async () => {
    const failure = await run(['sh', '-c', 'echo said; echo wrong >&2; exit 7']).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CommandFailed);
    expect(failure).toMatchObject({ exitCode: 7, argv: ['sh', '-c', expect.anything()] });
    expect((failure as CommandFailed).outputTail.split('\n').sort()).toEqual(['', 'said', 'wrong']);
  });

  test('one that is not there, or takes too long, fails too', async () => {
    await expect(run(['/no/such/program'])).rejects.toMatchObject({ exitCode: null });
    await expect(run(['sleep', '30'], { timeoutMs: 50 })).rejects.toMatchObject({ exitCode: null });
  });
});

describe('ports', () => {
  test('sockets that listen on a port are told from those that are connected to it', () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:1C41 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0 100 0 0 10 0',
      '   1: 0100007F:1C41 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 222 1 0 20 4 30 10 -1',
    ].join('\n');
    expect(listeningInodes(table, 7233)).toEqual(['111']);
  });

  test('a port that is taken is refused with the process that holds it', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      expect(await portFree(port)).toBe(false);
      expect((await portHolder(port))?.pid).toBe(process.pid);
      await expect(requirePort(port, 'the hub', 'SWARMLINE_X', '99')).rejects.toThrow(
        new RegExp(`Port ${port}, for the hub, is taken[\\s\\S]*Process ${process.pid}[\\s\\S]*SWARMLINE_X=99`),
      );
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
    await expect(requirePort(await freePorts(1), 'x', 'X', '1')).resolves.toBeUndefined();
  });
});

describe('what the sandbox image is made from', () => {
  test('a digest tells texts apart that run together to the same', () => {
    expect(digestOf(['ab', 'c'])).not.toBe(digestOf(['a', 'bc']));
    expect(digestOf(['a', 'b'])).toBe(digestOf(['a', 'b']));
  });

  test('everything that is fetched is pinned by version and integrity', async () => {
    const { versions } = await imageInputs();
    for (const pinned of [versions.node.x64, versions.node.arm64, versions.npm]) {
      expect(pinned.integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
    }
    expect(versions.node.version).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
