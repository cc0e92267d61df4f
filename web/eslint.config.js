// The strictest sets that know types, and React's rules of hooks.
import reactHooks from 'eslint-plugin-react-hooks';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  { ignores: ['dist/', 'src/graphql/generated.ts'] },
  {
    files: ['src/**/*.{ts,tsx}', 'vite.config.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked, reactHooks.configs.flat.recommended],
    languageOptions: { parserOptions: { projectService: true } },
    rules: { 'max-lines': ['error', 400], 'max-lines-per-function': ['error', 60] },
  },
);
