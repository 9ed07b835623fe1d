import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Embeddings } from '@agentci/metrics';

const FFMPEG_TIMEOUT_MS = 60_000;
/** The progress output of a long video is large. The last lines have the count. */
const MAX_OUTPUT = 10_000;

export interface VideoFrames {
  readonly video: string;
  /** Number of frames to extract. A short video repeats frames. */
  readonly wanted: number;
  /** The ffmpeg command. */
  readonly ffmpeg: string;
}

/**
 * Writes evenly spaced frames of a video to a temporary folder. Uses only ffmpeg, because ffprobe
 * is not always installed with it.
 */
export async function withVideoFrames(
  { video, wanted, ffmpeg }: VideoFrames,
  use: (paths: readonly string[]) => Promise<Embeddings>,
): Promise<Embeddings> {
  // Otherwise ffmpeg would fetch an address, and read other files from a list of files.
  const input = ['-protocol_whitelist', 'file', '-i', `file:${video}`, '-map', '0:v:0'];
  const counted = await run(ffmpeg, [
    ...[
      '-v',
      'error',
      '-nostdin',
      '-nostats',
      '-progress',
      'pipe:1',
      ...input,
      '-c',
      'copy',
      '-f',
      'null',
      '-',
    ],
  ]);
  if (!counted.ok) return counted;
  const total = Number([...counted.text.matchAll(/^frame=\s*(\d+)/gm)].at(-1)?.[1] ?? 0);
  if (!(total > 0)) return { ok: false, reason: `${video} has no frames` };
  const indices = Array.from({ length: wanted }, (_, i) => Math.floor((i * total) / wanted));
  const chosen = [...new Set(indices)];
  const select = chosen.map((i) => `eq(n\\,${i})`).join('+');
  // New time stamps: with the old ones, some versions of ffmpeg repeat frames to fill the gaps.
  const filter = `select=${select},setpts=N/(FRAME_RATE*TB)`;
  const folder = await mkdtemp(join(tmpdir(), 'agentci-frames-'));
  try {
    const cut = await run(ffmpeg, [
      ...['-v', 'error', '-nostdin', ...input, '-vf', filter, '-frames:v', String(chosen.length)],
      join(folder, '%05d.png'),
    ]);
    if (!cut.ok) return cut;
    const files = (await readdir(folder)).sort();
    if (files.length !== chosen.length)
      return {
        ok: false,
        reason: `${files.length} of ${chosen.length} frames could be read from ${video}`,
      };
    return await use(indices.map((index) => join(folder, files[chosen.indexOf(index)]!)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Ran =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

function run(command: string, args: readonly string[]): Promise<Ran> {
  return new Promise((done) => {
    const child = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: FFMPEG_TIMEOUT_MS,
    });
    let text = '';
    let errors = '';
    child.stdout.on('data', (chunk) => {
      text = `${text}${chunk}`.slice(-MAX_OUTPUT);
    });
    child.stderr.on('data', (chunk) => {
      errors = `${errors}${chunk}`.slice(-1000);
    });
    child.on('error', () =>
      done({ ok: false, reason: `${command} is not installed: apt-get install ffmpeg` }),
    );
    child.on('close', (code) =>
      done(
        code === 0
          ? { ok: true, text }
          : { ok: false, reason: `ffmpeg: ${errors.trim() || `code ${code}`}` },
      ),
    );
  });
}
