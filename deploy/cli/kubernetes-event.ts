/** A Kubernetes Event as far as anything here reads it. */
export interface KubernetesEvent {
  metadata: { uid: string; creationTimestamp: string };
  type?: string;
  reason?: string;
  message?: string;
  involvedObject?: { apiVersion?: string; kind?: string; namespace?: string; name?: string; uid?: string };
  lastTimestamp?: string | null;
  eventTime?: string | null;
}

export const timeOf = ({ lastTimestamp, eventTime, metadata }: KubernetesEvent) =>
  lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
