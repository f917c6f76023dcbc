{{/* The image of all functions. A tag or digest that is not given is left out, as in the manifests. */}}
{{- define "ot-functions.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ with .tag }}:{{ . }}{{ end }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}
{{- end }}

{{/* Where functions post what they tell. */}}
{{- define "ot-functions.sink" -}}
{{- $ingress := eq .Values.broker.class "Kafka" | ternary "kafka-broker-ingress" "broker-ingress" -}}
http://{{ $ingress }}.knative-eventing.svc.cluster.local/sync-operator/default
{{- end }}

{{/* What every container gets beside its own variables. */}}
{{- define "ot-functions.env" -}}
{{- with .Values.otlpEndpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The same of a container that has no variables of its own. */}}
{{- define "ot-functions.ownEnv" -}}
{{- if or .Values.otlpEndpoint .Values.extraEnv }}
env:
  {{- include "ot-functions.env" . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What every pod gets. With Knative Serving all but the last need a feature flag each, in its ConfigMap config-features. */}}
{{- define "ot-functions.pod" -}}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "ot-functions.podLabels" -}}
{{- with .Values.podLabels }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "ot-functions.podAnnotations" -}}
{{- with .Values.podAnnotations }}
{{- toYaml . }}
{{- end }}
{{- end }}

{{- define "ot-functions.accountAnnotations" -}}
{{- with .Values.serviceAccount.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "ot-functions.pullPolicy" -}}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}

{{/* Of a function: its own resources over those of all. */}}
{{- define "ot-functions.resources" -}}
{{- toYaml (mergeOverwrite (deepCopy .root.Values.resources) (deepCopy (.own.resources | default dict))) }}
{{- end }}

{{/* Of a Knative Service: how many there are at least and at most. */}}
{{- define "ot-functions.scale" -}}
{{- with .minScale }}
autoscaling.knative.dev/min-scale: {{ . | toString | quote }}
autoscaling.knative.dev/target-burst-capacity: "0"
{{- end }}
{{- with .maxScale }}
autoscaling.knative.dev/max-scale: {{ . | toString | quote }}
{{- end }}
{{- end }}

{{/* Senders are answered at once, for no function minds the order of events; Kafka's Broker does so anyway. */}}
{{- define "ot-functions.asyncHandler" -}}
{{- if eq .Values.broker.class "MTChannelBasedBroker" -}}
messaging.knative.dev/async-handler: "true"
{{- end }}
{{- end }}

{{- define "ot-functions.brokerConfig" -}}
{{- if eq .Values.broker.class "Kafka" -}}
config:
  apiVersion: v1
  kind: ConfigMap
  name: sync-operator-kafka
  namespace: sync-operator
{{- end }}
{{- end }}
