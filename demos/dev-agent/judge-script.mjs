// This demo asks no judge; the file tells demos/record.mjs which baselines to make.
export const opinion = () => [1, 'nobody asked'];
export const variants = [];
export const baselines = [{ version: 'v1', env: {} }];
