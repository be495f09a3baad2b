package contract

var errorCaseRules = []Rule{
	ruleFor(KindErrorCase, "error-case/classification", "A failure has a classification, and a success has none.", func(e ErrorCase, report reporter) {
		success := e.ClassifierInput.Result == ResultSuccess
		switch at := "/expected_failure_classification"; {
		case success && e.ExpectedFailureClassification != nil:
			report(at, "a success has no failure classification", "write null, or another result")
		case !success && e.ExpectedFailureClassification == nil:
			report(at, "the classification of the failure is missing", "write the object that the consumer's classifier must return")
		}
	}),
}
