// One candidate of a sweep in full: what was found of it, and what went wrong.
import { Link } from 'wouter';
import { useOpenHref } from '../ui/address';
import { Badge, Field, Nothing } from '../ui/parts';
import { Due, Time } from '../ui/time';
import { CANDIDATE_MEANING } from '../ui/words';
import type { CandidateDetail } from './useDetail';

export function CandidateSections({ candidate }: { candidate: CandidateDetail }) {
  const { candidateState: state, lastError, nextAttemptAt, receipt } = candidate;
  const hrefTo = useOpenHref();
  return (
    <>
      <p className="standing">
        <Badge state={state} meaning={CANDIDATE_MEANING[state]} /> {CANDIDATE_MEANING[state]}.
      </p>
      {lastError !== null && <blockquote className="error">{lastError}</blockquote>}
      <dl>
        <Field name="Document">
          <Link href={hrefTo({ document: candidate.candidateDocumentId })}>{candidate.candidateDocumentId}</Link>
        </Field>
        <Field name="Source id">{candidate.candidateSourceId}</Field>
        <Field name="Model">{candidate.candidateModel}</Field>
        <Field name="Looks">{candidate.attempts}</Field>
        <Field name="Failed writes">{candidate.applyFailures} of 5</Field>
        <Field name="Next look">{state === 'APPLIED' || state === 'REFUSED' ? <Nothing /> : nextAttemptAt === null ? 'at once' : <Due at={nextAttemptAt} />}</Field>
        <Field name="Receipt">
          {receipt ? (
            <Link href={hrefTo({ node: receipt.id })}>
              {receipt.partition}, sequence {receipt.sequence}
            </Link>
          ) : (
            <Nothing />
          )}
        </Field>
        <Field name="Updated">
          <Time at={candidate.updatedAt} />
        </Field>
      </dl>
    </>
  );
}
