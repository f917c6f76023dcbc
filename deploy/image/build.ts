import { bundle, bundleFolder } from './bundle.ts';

await bundle();
console.log(`bundled all functions into ${bundleFolder}`);
