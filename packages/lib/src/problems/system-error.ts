/** Common system errors in words. Others use their own message. */
const WORDS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many files are open in this process',
  ENFILE: 'too many files are open on this machine',
  ENOMEM: 'the machine is out of memory',
  EAGAIN: 'the machine cannot start more processes right now',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EIO: 'the disk reported an error',
  E2BIG: 'the arguments and the environment are too large',
};

interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly path?: string;
}

/** Whether an error comes from the operating system. */
export const isSystemError = (error: unknown): error is SystemError =>
  error instanceof Error &&
  typeof (error as Partial<SystemError>).code === 'string' &&
  typeof (error as Partial<SystemError>).syscall === 'string';

/** A system error in one line. Undefined for any other error. */
export function systemErrorText(error: unknown): string | undefined {
  if (!isSystemError(error)) return undefined;
  const { code, syscall, path, message } = error;
  if (syscall === 'uv_cwd') return 'the working directory was deleted (ENOENT)';
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  if (words === undefined) return message.split('\n', 1)[0]!;
  return `${words} (${code}${path === undefined ? '' : `, ${path}`})`;
}
