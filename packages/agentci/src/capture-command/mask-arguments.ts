import { isSecretName, maskMark, SECRETS } from '@agentci/lib/secrets';

/** Masks the values of flags, variables and headers whose names suggest a secret. */
export function maskArguments(args: readonly string[]): string[] {
  let isNext: string | undefined;
  return args.map((arg) => {
    const flag = isNext;
    isNext = undefined;
    if (flag !== undefined && !/^--?[a-z]/i.test(arg)) return hide(flag, arg);
    const [, dashes = '', name = '', sign = '', value = ''] =
      /^(-{0,2})([\w.-]+?)(=|:\s*)(.*)$/s.exec(arg) ?? [];
    if (name !== '' && isSecret(name)) return `${dashes}${name}${sign}${hide(name, value)}`;
    if (/^--?[\w.-]+$/.test(arg) && isSecret(arg.replace(/^-+/, '')))
      isNext = arg.replace(/^-+/, '');
    return withoutParameters(arg);
  });
}

const isSecret = (name: string): boolean =>
  isSecretName(name) || /^(?:key|sig|signature)$/i.test(name);

function hide(name: string, value: string): string {
  if (value === '') return value;
  SECRETS.add([{ name, value, isUsed: true }]);
  return maskMark(name);
}

/** Masks the password and the key parameters of a URL. */
const withoutParameters = (arg: string): string =>
  arg
    .replace(
      /(:\/\/[^/@\s:]*:)([^/@\s]+)(?=@)/g,
      (_, start: string, value: string) => start + hide('password', value),
    )
    .replace(
      /([?&])([\w.-]+)=([^&#\s]+)/g,
      (all: string, start: string, name: string, value: string) =>
        isSecret(name) ? `${start}${name}=${hide(name, value)}` : all,
    );
