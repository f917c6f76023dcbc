import type { Kube } from '../../../shared/runtime/kube.ts';
import type { AdmissionHook } from '../api-server/admission.ts';
import { admin, userNamed } from '../api-server/authentication.ts';
import { Claim } from '../controller/kinds.ts';
import { admit } from './admit.ts';
import { refuseClone } from './clone-authorization.ts';

/** CDI's webhooks, as an admission hook of the local API server. */
export const webhooks =
  (kube: Kube): AdmissionHook =>
  (request) =>
    admit(
      request,
      (namespace, name) => kube.get(Claim, { namespace, name }),
      (user, namespace) => refuseClone(kube, user === admin.name ? admin : userNamed(user), namespace),
    );
