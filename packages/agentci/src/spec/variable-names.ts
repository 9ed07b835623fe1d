const MAX_NAME = 100;

/** Why a name cannot be that of a variable, in words. */
export function variableNameProblem(name: string, what: string): string | undefined {
  if (name.trim() === '') return `${what} needs a name`;
  if (name !== name.trim() || /[{}|\r\n]/.test(name))
    return `${what} cannot be named ${JSON.stringify(name.slice(0, 40))}: spaces at the ends, braces and bars do not fit between {{ and }}`;
  return name.length > MAX_NAME
    ? `the name of ${what} has at most ${MAX_NAME} characters`
    : undefined;
}
